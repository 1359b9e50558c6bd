"""A call as an engine's rows, and their answers as a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.engine import Row
from models.questions.render import render
from models.questions.types import Answer
from serve_app.asking.call import Call


def rows(call: Call) -> tuple[Row, ...]:
    """A row per entry, its state rendered."""
    return tuple(
        Row(render(entry.state), tuple(entry.questions.values())) for entry in call.entries.values()
    )


def answers(call: Call, by_row: Sequence[Sequence[Answer]]) -> Mapping[str, Mapping[str, Answer]]:
    """Entry name -> question id -> answer, from the answers of ``rows(call)`` in order."""
    return {
        name: dict(zip(entry.questions, row, strict=True))
        for (name, entry), row in zip(call.entries.items(), by_row, strict=True)
    }
