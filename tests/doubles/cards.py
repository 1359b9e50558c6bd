"""Cards of models that do not exist, for what the configuration reads of a card."""

from __future__ import annotations

from typing import Final

from models.cards.schema import Card
from models.questions.types import QuestionType


def card(name: str, *without: QuestionType, images: bool = False) -> Card:
    """A card of every question type but ``without``."""
    return Card(
        name=name,
        revision="1",
        family="scripted",
        release_date="2026-01-01",
        question_types=frozenset(QuestionType) - frozenset(without),
        modalities=frozenset({"text", "image"}) if images else frozenset({"text"}),
        calibrated=False,
        max_input_tokens=9_216,
        reads_state_once=True,
        licence="Apache-2.0",
    )


ABLE: Final = card("able", images=True)
"""Answers every type of question, about images too."""

PLAIN: Final = card("plain", QuestionType.SPAN)
"""No spans, text only."""
