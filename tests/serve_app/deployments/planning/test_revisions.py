"""Whether a deployment is as fast as it was: SRV-20, SCAN-9."""

from __future__ import annotations

from typing import Any

from serve_app.config.cards import cards_of
from serve_app.config.schema.document import Config
from serve_app.deployments.planning.revisions import revisions
from serve_app.deployments.rollout.policy import Policy
from tests.doubles.cards import ABLE

LOCAL = {"provider": "model_runtime", "artifact": "embedded"}
REMOTE = {"provider": "systemone", "endpoint": "https://far.example", "model": "m"}


def revision(revision: str = "1", **deployment: Any) -> str:
    """Of the one deployment of a policy, with a local model of ``revision``."""
    catalog = {"deployments": {"primary": deployment}}
    config = Config.model_validate(
        {
            "version": "v1",
            "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
            "recipes": [{"name": "default", "decisions": []}],
            "global": {"model_catalog": catalog},
        }
    )
    card = ABLE.model_copy(update={"revision": revision})
    cards = cards_of(config.global_.model_catalog, {"embedded": card})
    return revisions(Policy("a", config, cards))["primary"]


def test_what_a_policy_says_of_the_asking_makes_no_other_model() -> None:
    """SRV-20: windows, bounds and names"""
    windows = {"scan_window": {"tokens": 256}}
    assert revision(**LOCAL) == revision(**LOCAL, **windows, aliases=["a"])
    assert revision(**REMOTE) == revision(**REMOTE, **windows, timeout_ms=9)


def test_another_model_or_another_place_for_it_is_another_revision() -> None:
    """SRV-20"""
    placed = {"placement": {"device": "cpu", "threads": 2}}
    far = {**REMOTE, "endpoint": "https://farther.example"}
    other = {**REMOTE, "model": "n"}
    found = [
        revision(**LOCAL),
        revision("2", **LOCAL),
        revision(**LOCAL, **placed),
        revision(**REMOTE),
        revision(**far),
        revision(**other),
    ]
    assert len(set(found)) == len(found)
