"""A System One body answered by an engine in the calling thread (S1-10)."""

from __future__ import annotations

from typing import Any

from models.engine import Engine, Row, answer_prepared
from models.questions.standard import parse_body, response
from models.questions.types import JsonValue


def ask(engine: Engine, body: JsonValue) -> dict[str, Any]:
    """The response to a decoded body, whose ``model`` may be absent, or ``RequestError``."""
    parsed = parse_body(body, default_model=engine.card.name)
    prepared = [engine.prepare(Row(state, questions)) for state, questions in parsed.asked()]
    return response(
        parsed,
        engine.card.name,
        answer_prepared(engine, prepared),
        [row.tokens for row in prepared],
        thresholds=engine.card.thresholds,
    )
