"""A stand-in for a GPU: a forward takes 50 ms and no CPU, and holds up to 16 rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from models.engine import PreparedRow, Row
from models.questions.types import Answer, ChoiceAnswer, NoulAnswer, Question, QuestionType
from models.scheduling.settings import Budget
from tests.doubles.engines import CountedRow, FixedTimeEngine

ROWS: Final = 16
SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class PaddedRow(CountedRow):
    """All rows have one length, of which the shipped token budget holds ``ROWS``."""

    @property
    def bucket(self) -> int:
        return Budget().tokens // ROWS


class FixedEngine(FixedTimeEngine):
    """The fixed-time double, which also answers a choice: the shipped recipe asks two.

    An answer follows from its row alone.
    """

    card = FixedTimeEngine.card.model_copy(
        update={"question_types": frozenset({QuestionType.NOUL, QuestionType.CHOICE})}
    )

    def __init__(self) -> None:
        super().__init__(SECONDS, ROWS)

    def prepare(self, row: Row) -> PaddedRow:
        return PaddedRow(row)

    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        drawn = super().forward(cast("Sequence[CountedRow]", rows))
        return [
            tuple(map(_fitting, row.row.questions, answers))
            for row, answers in zip(rows, drawn, strict=True)
        ]


def _fitting(question: Question, drawn: Answer) -> Answer:
    if question.type is not QuestionType.CHOICE or not isinstance(drawn, NoulAnswer):
        return drawn
    first, *others = (option.key for option in question.options)
    rest = (1 - drawn.probability) / len(others)
    return ChoiceAnswer((first, *others), (drawn.probability, *(rest for _ in others)))
