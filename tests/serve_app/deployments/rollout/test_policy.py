"""How a policy travels (CFG-10)."""

from __future__ import annotations

import json
import traceback

import pytest

from serve_app.config.cards import cards_of
from serve_app.deployments.rollout.policy import Policy, PolicyError
from tests.doubles.cards import ABLE
from tests.doubles.router_yaml import loaded


def test_a_policy_arrives_as_it_was_sent() -> None:
    """CFG-10, CFG-2: remote models, and what may be shown, with it."""
    found = loaded()
    cards = cards_of(found.config.global_.model_catalog, {"embedded": ABLE})
    for shown in (found.shown, None):
        policy = Policy(found.version, found.config, cards, shown)
        assert Policy.of(json.loads(json.dumps(policy.user_config()))) == policy


SECRET = "sk-of-a-provider"


@pytest.mark.parametrize("part", ["config", "cards"])
def test_one_that_does_not_fit_is_told_without_its_values(part: str) -> None:
    """CFG-2: the error goes into Serve's log and status"""
    found = loaded()
    cards = cards_of(found.config.global_.model_catalog, {"embedded": ABLE})
    user_config = Policy(found.version, found.config, cards).user_config()
    inner = user_config[part] if part == "config" else user_config[part]["first"]
    inner["api_key"] = SECRET
    with pytest.raises(PolicyError) as refused:
        Policy.of(user_config)
    assert "api_key (extra_forbidden)" in str(refused.value)
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)
    assert SECRET not in "".join(traceback.format_exception(refused.value))
