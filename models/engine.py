"""What a decision model is to everything that runs one (SRV-16)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from models.cards.schema import Card
from models.questions.types import Answer, Question


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


class Engine(Protocol):
    """A loaded decision model.

    ``prepare`` runs on the CPU, is cheap and thread-safe; ``forward`` is called by one thread
    at a time with rows of one bucket and returns, per row, an answer per question in order. A
    question or a state the model cannot read is an ``ErrorAnswer`` in its place; an exception
    means that the forward failed and says nothing about the rows.
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


def answer(engine: Engine, rows: Sequence[Row]) -> list[tuple[Answer, ...]]:
    """Answers ``rows`` in order, a forward per bucket, in the calling thread."""
    return answer_prepared(engine, [engine.prepare(row) for row in rows])


def answer_prepared(engine: Engine, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
    """The same for rows that are prepared."""
    by_bucket: dict[int, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        by_bucket[row.bucket].append(index)
    answers: list[tuple[Answer, ...]] = [()] * len(rows)
    for indices in by_bucket.values():
        for index, row_answers in zip(
            indices, engine.forward([rows[i] for i in indices]), strict=True
        ):
            answers[index] = row_answers
    return answers
