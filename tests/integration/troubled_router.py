"""The router's graph over an engine that fails as the texts say."""

import os
from functools import partial

from ray.serve import Application

from models.cards.shipped import shipped_cards
from serve_app.app import RouterArgs, build_graph
from serve_app.config.loading import load
from serve_app.deployments.rollout.policy import Policy
from tests.doubles.engines import TroubledEngine


def build(args: RouterArgs) -> Application:
    cards = shipped_cards()
    policy = Policy.of_loaded(load(args.config, cards=cards, environ=os.environ), cards)
    return build_graph(policy, {"primary": partial(TroubledEngine, args.config.parent)})
