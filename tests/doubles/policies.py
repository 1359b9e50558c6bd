"""Policies whose every answer shows which one it is of."""

from __future__ import annotations

from serve_app.config.cards import cards_of
from serve_app.config.schema.document import Config
from serve_app.deployments.rollout.policy import Policy
from tests.doubles.cards import ABLE


def policy(version: str, *models: str) -> Policy:
    """Everything is decided as ``decided-VERSION``. ``models``: its local ones."""
    names = models or ("primary",)
    model = {"provider": "model_runtime", "artifact": "embedded"}
    config = Config.model_validate(
        {
            "version": "v1",
            "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
            "recipes": [
                {
                    "name": "default",
                    "decisions": [
                        {
                            "name": f"decided-{version}",
                            "plugins": [{"type": "fast_response", "message": version}],
                        }
                    ],
                }
            ],
            "global": {
                "model_catalog": {
                    "system": {"decision_model": {"deployment": names[0]}},
                    "deployments": dict.fromkeys(names, model),
                }
            },
        }
    )
    return Policy(version, config, dict.fromkeys(names, ABLE))


def remote_policy(version: str, endpoint: str) -> Policy:
    """Every request asks the System One API at ``endpoint`` one question, and is then decided as
    ``decided-VERSION``.
    """
    question = {"type": "noul", "instructions": "Is it a complaint?"}
    far = {"provider": "systemone", "endpoint": endpoint, "model": "m", "timeout_ms": 10_000}
    condition = {"type": "systemone", "name": "complaint"}
    fast = [{"type": "fast_response", "message": version}]
    config = Config.model_validate(
        {
            "version": "v1",
            "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
            "recipes": [
                {
                    "name": "default",
                    "signals": {"systemone": [{"name": "complaint", "question": question}]},
                    "decisions": [
                        {
                            "name": f"decided-{version}",
                            "rules": {"conditions": [condition], "on_unknown": "no_match"},
                            "plugins": fast,
                        },
                        {"name": f"decided-{version}", "plugins": fast},
                    ],
                }
            ],
            "global": {
                "model_catalog": {
                    "system": {"decision_model": {"deployment": "far"}},
                    "deployments": {"far": far},
                }
            },
        }
    )
    return Policy(version, config, cards_of(config.global_.model_catalog, {}))
