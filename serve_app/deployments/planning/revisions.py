"""What tells apart the models that a deployment has been under one policy and the next."""

from __future__ import annotations

from models.cards.schema import Card
from serve_app.config.schema.catalog import Deployment, LocalDeployment
from serve_app.deployments.rollout.policy import Policy


def revisions(policy: Policy) -> dict[str, str]:
    """By deployment: equal as long as it takes equal calls as long (SCAN-9, SRV-20)."""
    catalog = policy.config.global_.model_catalog
    return {name: _revision(spec, policy.cards[name]) for name, spec in catalog.deployments.items()}


def _revision(spec: Deployment, card: Card) -> str:
    if isinstance(spec, LocalDeployment):
        # Where a model runs makes it as fast as it is.
        return f"{spec.artifact} {card.revision} {spec.placement.model_dump_json()}"
    return f"{spec.model} at {spec.endpoint}"  # of another model elsewhere no revision is known
