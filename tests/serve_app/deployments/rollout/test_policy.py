"""How a policy travels (CFG-10)."""

from __future__ import annotations

import json

from serve_app.config.cards import cards_of
from serve_app.deployments.rollout.policy import Policy
from tests.doubles.cards import ABLE
from tests.doubles.router_yaml import loaded


def test_a_policy_arrives_as_it_was_sent() -> None:
    """CFG-10, CFG-2: remote models, and what may be shown, with it."""
    found = loaded()
    cards = cards_of(found.config.global_.model_catalog, {"embedded": ABLE})
    for shown in (found.shown, None):
        policy = Policy(found.version, found.config, cards, shown)
        assert Policy.of(json.loads(json.dumps(policy.user_config()))) == policy
