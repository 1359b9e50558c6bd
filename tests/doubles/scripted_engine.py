"""An engine whose answers are given to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from models.cards.schema import Card
from models.engine import PreparedRow, Row
from models.questions.types import Answer, Question


@dataclass(frozen=True, slots=True)
class ScriptedRow:
    row: Row
    tokens: int
    cost: int
    bucket: int


class ScriptedEngine:
    """Answers each question by ``script``; a row's tokens are its words, its bucket 16."""

    def __init__(self, card: Card, script: Callable[[str, Question], Answer]) -> None:
        self.card = card
        self._script = script

    def prepare(self, row: Row) -> ScriptedRow:
        tokens = len(row.state.split())
        return ScriptedRow(row, tokens, tokens, 16)

    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        return [tuple(self._script(r.row.state, q) for q in r.row.questions) for r in rows]
