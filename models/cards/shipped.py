"""The cards that ship with the project (S1-14)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from models.cards.schema import Card

SHIPPED: Final = ("embedded",)


def shipped_card(name: str) -> Card:
    """The card of a shipped model; ``KeyError`` if none has that name."""
    if name not in SHIPPED:
        raise KeyError(name)
    return Card.model_validate_json(files("models.cards").joinpath(f"{name}.json").read_bytes())


def shipped_cards() -> Mapping[str, Card]:
    """All of them, by the artifact that loads the model."""
    return {name: shipped_card(name) for name in SHIPPED}
