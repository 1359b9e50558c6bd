"""``GET /v1/models``, in the shapes of both families of clients at once (S1-8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from models.cards.schema import Card
from serve_app.config.schema.document import Config
from serve_app.config.schema.providers import Pricing


def models_body(config: Config, cards: Mapping[str, Card]) -> dict[str, Any]:
    """``data``: entrypoints, chat models and decision models, each name once. ``models``: the
    decision models by card, deployment and alias. ``pricing`` is a chat model's as written, per
    million tokens. ``cards``: by deployment.
    """
    decision: dict[str, Card] = {}
    for key, card in cards.items():
        for name in decision_names(config, key, card):
            decision.setdefault(name, card)
    data = [
        *(_entry(name, "router") for point in config.entrypoints for name in point.model_names),
        *(
            _entry(model.name, "provider", pricing=model.pricing)
            for model in config.providers.models
        ),
        *(_entry(name, "decision-model", card.release_date) for name, card in decision.items()),
    ]
    return {
        "object": "list",
        "data": list({entry["id"]: entry for entry in reversed(data)}.values())[::-1],
        "models": [
            {"name": name, "description": card.description, "release_date": card.release_date}
            for name, card in decision.items()
        ],
    }


def decision_names(config: Config, deployment: str, card: Card) -> Iterable[str]:
    """What clients may call a decision model, its resolved id first, each name once."""
    return dict.fromkeys([card.name, *config.global_.model_catalog.names(deployment)])


def _entry(
    name: str, owner: str, released: str | None = None, pricing: Pricing | None = None
) -> dict[str, Any]:
    entry = {"id": name, "object": "model", "created": _epoch(released), "owned_by": owner}
    return entry if pricing is None else entry | {"pricing": pricing.model_dump()}


def _epoch(released: str | None) -> int:
    if released is None:
        return 0
    day = date.fromisoformat(released)
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
