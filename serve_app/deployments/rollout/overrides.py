"""A policy as ``deployments`` of a Serve file: ``serve deploy`` lays them over what runs."""

from __future__ import annotations

from typing import Any

from serve_app.deployments.placement.model_spec import placed_options
from serve_app.deployments.rollout.policy import Policy, serve_name


def overrides(policy: Policy) -> list[dict[str, Any]]:
    """As JSON. They are the options that the graph of ``policy`` is built with, so that they change
    nothing there; laid over the graph of another policy, they change what differs (CFG-10).
    """
    user_config = policy.user_config()
    return [
        {"name": "Ingress", "user_config": user_config},
        {"name": "SignalPlanner", "user_config": user_config},
        *(
            {"name": serve_name(name), **placed_options(spec)}
            for name, spec in policy.config.global_.model_catalog.local.items()
        ),
    ]
