"""What a decision model is to everything that runs one (SRV-16)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from models.cards.schema import Card
from models.questions.types import Answer, AnswerError, ErrorAnswer, Question


@dataclass(frozen=True)
class Row:
    """One state and the questions about it: what a forward is packed from.

    ``state`` is rendered text. The answers of a row depend on the row alone (SRV-12).
    """

    state: str
    questions: tuple[Question, ...]


class PreparedRow(Protocol):
    """A tokenised row.

    ``tokens``: tokens of the state, as usage counts them. ``cost``: tokens its forward computes,
    padding and question texts that are not cached included. ``bucket``: padded length of its
    longest piece; rows of one bucket may share a forward (SRV-6).
    """

    @property
    def row(self) -> Row: ...
    @property
    def tokens(self) -> int: ...
    @property
    def cost(self) -> int: ...
    @property
    def bucket(self) -> int: ...


class RejectedInput(Exception):  # noqa: N818 - says what is wrong
    """A state that the model does not read: none of its questions has an answer (MRG-3).

    ``message`` holds none of the state.
    """

    def __init__(
        self,
        reason: Literal[AnswerError.INVALID_INPUT, AnswerError.MAX_LENGTH_EXCEEDED],
        message: str = "",
    ) -> None:
        super().__init__(message)
        self.answer = ErrorAnswer(reason, message)


class Engine(Protocol):
    """A loaded decision model.

    ``prepare`` runs on the CPU, is cheap and thread-safe; it raises ``RejectedInput`` for a state
    that the model reads for no question, which then costs no forward. ``forward`` is called by one
    thread at a time with rows of one bucket and returns, per row, an answer per question in order;
    a question that has none is an ``ErrorAnswer`` in its place. Any other exception means that the
    call failed and says nothing about the rows.
    """

    @property
    def card(self) -> Card: ...
    def prepare(self, row: Row) -> PreparedRow: ...
    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]: ...


@dataclass(frozen=True)
class Runtime:
    """What an engine computes on (SRV-13): ``device`` is ``"cpu"`` or ``"cuda"``, ``dtype`` the
    number format it took, ``threads`` those of one forward on a CPU."""

    device: str
    dtype: str
    threads: int


@runtime_checkable
class TellsRuntime(Protocol):
    """An engine may tell what it computes on."""

    @property
    def runtime(self) -> Runtime: ...


@dataclass(frozen=True)
class ModelDescription:
    """A loaded model: its card's ``name`` and ``revision``, and what it computes on, ``None``
    where the engine does not tell."""

    name: str
    revision: str
    device: str | None = None
    dtype: str | None = None
    threads: int | None = None


def describe(engine: Engine) -> ModelDescription:
    card = engine.card
    if not isinstance(engine, TellsRuntime):
        return ModelDescription(card.name, card.revision)
    runtime = engine.runtime
    return ModelDescription(
        card.name, card.revision, runtime.device, runtime.dtype, runtime.threads
    )


@dataclass(frozen=True)
class Answered:
    """A row's ``answers``, one per question; ``tokens`` of its state, 0 where it was rejected."""

    answers: tuple[Answer, ...]
    tokens: int


def answer(engine: Engine, rows: Sequence[Row]) -> list[tuple[Answer, ...]]:
    """Answers ``rows`` in order, a forward per bucket, in the calling thread."""
    prepared = [prepare(engine, row) for row in rows]
    return [answered.answers for answered in answer_prepared(engine, prepared)]


def prepare(engine: Engine, row: Row) -> PreparedRow | Answered:
    """The prepared row, or its answers where the engine rejects it."""
    try:
        return engine.prepare(row)
    except RejectedInput as rejected:
        return Answered((rejected.answer,) * len(row.questions), 0)


def answer_prepared(engine: Engine, rows: Sequence[PreparedRow | Answered]) -> list[Answered]:
    """The same for what ``prepare`` returned."""
    by_bucket: dict[int, list[tuple[int, PreparedRow]]] = defaultdict(list)
    answered: list[Answered] = []
    for index, row in enumerate(rows):
        if isinstance(row, Answered):
            answered.append(row)
        else:
            answered.append(Answered((), row.tokens))
            by_bucket[row.bucket].append((index, row))
    for members in by_bucket.values():
        forward = engine.forward([row for _, row in members])
        for (index, row), answers in zip(members, forward, strict=True):
            answered[index] = Answered(answers, row.tokens)
    return answered
