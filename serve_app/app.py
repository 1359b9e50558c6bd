"""From a configuration to the Serve application. The only place that binds deployments."""

# No `from __future__ import annotations`: Ray reads the builder's annotation as a class.

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from ray import serve
from ray.serve import Application

from models.cards.shipped import shipped_cards
from models.engine import Engine
from serve_app.config.loading import load
from serve_app.deployments.decision_model import PlacedModel
from serve_app.deployments.ingress import Ingress
from serve_app.deployments.placement.model_spec import deployment_options
from serve_app.deployments.rollout.policy import Policy, serve_name
from serve_app.deployments.signal_planner import SignalPlanner

logger = logging.getLogger("serve_app")

EngineLoader = Callable[[], Engine]

LIGHT: Final[dict[str, Any]] = {
    "max_ongoing_requests": 2048,
    "max_queued_requests": 512,
    "graceful_shutdown_wait_loop_s": 0.2,
    "max_surge_percent": 100,
    "ray_actor_options": {"num_cpus": 0.1},
}
"""Of deployments without a model: they hold waiting requests, the models' replicas bound them."""


class RouterArgs(BaseModel):
    """``args`` of the application in a Serve configuration file."""

    model_config = ConfigDict(extra="forbid")

    config: Path
    models: list[str] | None = None
    """The names of the local models in ``config``: `serve deploy` compares arguments and no file's
    content, so this one makes Serve build anew when the graph gains or loses a model."""


def build(args: RouterArgs) -> Application:
    """The application of a router configuration; ``ConfigErrors`` with all of its mistakes."""
    cards = shipped_cards()
    loaded = load(args.config, cards=cards, environ=os.environ)
    for warning in loaded.warnings:
        logger.warning("%s", warning)
    return build_graph(Policy.of_loaded(loaded, cards))


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
    options = deployment_options(policy.config.global_.model_catalog.local[name])
    deployment = serve.deployment(name=serve_name(name), **options)
    replica: Application = deployment(PlacedModel).bind(name, loader)
    return replica
