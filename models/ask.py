"""A System One body answered by an engine in the calling thread (S1-10)."""

from __future__ import annotations

from typing import Any

from models.engine import Engine, Row, answer_prepared, prepare
from models.questions.standard import parse_body, response
from models.questions.types import JsonValue


def ask(engine: Engine, body: JsonValue) -> dict[str, Any]:
    """The response to a decoded body, whose ``model`` may be absent, or ``RequestError``."""
    parsed = parse_body(body, default_model=engine.card.name)
    prepared = [prepare(engine, Row(state, questions)) for state, questions in parsed.asked()]
    answered = answer_prepared(engine, prepared)
    return response(
        parsed,
        engine.card.name,
        [row.answers for row in answered],
        [row.tokens for row in answered],
        thresholds=engine.card.thresholds,
    )
