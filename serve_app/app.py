"""From a configuration to the Serve application. The only place that binds deployments."""

# No `from __future__ import annotations`: Ray reads the builder's annotation as a class.

import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from ray import serve
from ray.serve import Application

from models.cards.shipped import shipped_cards
from models.engine import Engine
from serve_app.config.cards import cards_of
from serve_app.config.loading import load
from serve_app.deployments.decision_model import (
    DecisionModel,
    deployment_options,
    replica_settings,
)
from serve_app.deployments.engines import load_engine
from serve_app.deployments.ingress import Ingress
from serve_app.deployments.policy import Policy
from serve_app.deployments.signal_planner import SignalPlanner

logger = logging.getLogger("serve_app")

EngineLoader = Callable[[], Engine]

LIGHT: Final[dict[str, Any]] = {
    "max_ongoing_requests": 2048,
    "max_queued_requests": 512,
    "graceful_shutdown_wait_loop_s": 0.2,
    "ray_actor_options": {"num_cpus": 0.1},
}
"""Of deployments without a model: they hold waiting requests, the models' replicas bound them."""


class RouterArgs(BaseModel):
    """``args`` of the application in a Serve configuration file."""

    model_config = ConfigDict(extra="forbid")

    config: Path


def build(args: RouterArgs) -> Application:
    """The application of a router configuration; ``ConfigErrors`` with all of its mistakes."""
    cards = shipped_cards()
    loaded = load(args.config, cards=cards, environ=os.environ)
    for warning in loaded.warnings:
        logger.warning("%s", warning)
    by_deployment = cards_of(loaded.config.global_.model_catalog, cards)
    return build_graph(Policy(loaded.version, loaded.config, by_deployment, loaded.shown))


def build_graph(policy: Policy, loaders: Mapping[str, EngineLoader] | None = None) -> Application:
    """The graph of ``policy``. ``loaders`` replaces engines, by deployment: benchmarks and tests
    bind theirs here, in code; no configuration can name one.
    """
    catalog = policy.config.global_.model_catalog
    user_config = policy.user_config()
    models = {
        name: _decision_model(name, policy, (loaders or {}).get(name)) for name in catalog.local
    }
    light = serve.deployment(user_config=user_config, **LIGHT)
    planner: Application = light(SignalPlanner).bind(models)
    application: Application = light(Ingress).bind(planner, models)
    return application


def _decision_model(name: str, policy: Policy, loader: EngineLoader | None) -> Application:
    spec = policy.config.global_.model_catalog.local[name]
    loader = loader or partial(load_engine, policy.cards[name], spec.placement)
    settings = replica_settings(spec, os.environ)
    deployment = serve.deployment(name=f"DecisionModel-{name}", **deployment_options(spec))
    replica: Application = deployment(DecisionModel).bind(loader, settings, name=name)
    return replica
