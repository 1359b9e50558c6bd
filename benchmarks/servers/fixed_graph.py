"""The graph around the fixed engine: the application that ``serve run`` imports for it.

Bound in code, with the shipped router configuration: no configuration can name this engine.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ray.serve import Application

from benchmarks.servers.fixed_engine import FixedEngine
from serve_app.app import build_graph
from serve_app.config.loading import load
from serve_app.deployments.rollout.policy import Policy


def build(arguments: dict[str, Any]) -> Application:
    """The shipped application with this engine in the place of every model."""
    card = FixedEngine.card
    loaded = load(Path(arguments["config"]), cards={"embedded": card}, environ=os.environ)
    names = loaded.config.global_.model_catalog.deployments
    policy = Policy(loaded.version, loaded.config, dict.fromkeys(names, card))
    return build_graph(policy, dict.fromkeys(names, FixedEngine))
