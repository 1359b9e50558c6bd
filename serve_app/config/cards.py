"""The card of each decision model of a configuration."""

from __future__ import annotations

from collections.abc import Mapping

from models.cards.schema import Card
from models.questions.types import QuestionType
from serve_app.config.schema.catalog import (
    Deployment,
    LocalDeployment,
    ModelCatalog,
    RemoteDeployment,
)


def cards_of(catalog: ModelCatalog, shipped: Mapping[str, Card]) -> dict[str, Card]:
    """Deployment -> card. ``shipped``: by artifact."""
    return {name: card_of(name, spec, shipped) for name, spec in catalog.deployments.items()}


def card_of(name: str, deployment: Deployment, shipped: Mapping[str, Card]) -> Card:
    """``name``: of the deployment. ``KeyError`` for an artifact without a card."""
    if isinstance(deployment, LocalDeployment):
        return shipped[deployment.artifact]
    return remote_card(name, deployment)


def remote_card(name: str, deployment: RemoteDeployment) -> Card:
    """What is assumed of a model that has no card: it answers every type of question about text,
    has no calibrated thresholds and no trained ids, and no length is known to be too long (S1-14).

    It is called by its deployment's ``name`` (S1-8): the one that its API gives it may be an alias
    here, or that of a second deployment. Clients read a release date in any list; the epoch is
    that of an unknown one, as ``created`` is 0.
    """
    return Card(
        name=name,
        revision="",
        family="systemone",
        description=f"{deployment.model}, at a System One API elsewhere",
        release_date="1970-01-01",
        question_types=frozenset(QuestionType),
        calibrated=False,
        max_input_tokens=2**31 - 1,
        reads_state_once=False,
        licence="",
    )
