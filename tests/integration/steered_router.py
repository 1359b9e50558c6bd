"""The router's graph over an engine that a test steers by files beside the configuration."""

import os
from functools import partial

from ray.serve import Application

from models.cards.shipped import shipped_cards
from serve_app.app import RouterArgs, build_graph
from serve_app.config.cards import cards_of
from serve_app.config.loading import load
from serve_app.deployments.rollout.policy import Policy
from tests.doubles.engines import FolderEngine


def build(args: RouterArgs) -> Application:
    loaded = load(args.config, cards=shipped_cards(), environ=os.environ)
    cards = cards_of(loaded.config.global_.model_catalog, shipped_cards())
    policy = Policy(loaded.version, loaded.config, cards)
    return build_graph(policy, {"primary": partial(FolderEngine, args.config.parent)})
