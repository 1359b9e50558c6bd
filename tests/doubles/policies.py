"""Policies whose every answer shows which one it is of."""

from __future__ import annotations

from serve_app.config.schema.document import Config
from serve_app.deployments.policy import Policy
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
