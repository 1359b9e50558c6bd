"""Engines for tests of what runs engines. Their answers follow from a row's content alone, so
that an answer given to the wrong row or question is seen."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from models.cards.schema import Card
from models.engine import RejectedInput, Row
from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)

CARD = Card(
    name="fixed",
    revision="1",
    family="fixed",
    release_date="2026-01-01",
    question_types=frozenset({QuestionType.NOUL}),
    calibrated=False,
    max_input_tokens=8192,
    reads_state_once=True,
    licence="none",
)


def probability(state: str, question: Question) -> float:
    """The answer these engines give: to a preset and to its text written out, the same."""
    text = Question(question.type, question.instructions, question.options)
    return (hash_of(state) ^ int.from_bytes(text.digest()[:4], "little")) / 2**32


def hash_of(text: str) -> int:
    return int.from_bytes(Question(QuestionType.NOUL, text).digest()[4:8], "little")


def answers(row: Row) -> tuple[Answer, ...]:
    return tuple(_answer(row.state, q) for q in row.questions)


def _answer(state: str, question: Question) -> Answer:
    """A noul by ``probability``; every other type evenly, or without spans."""
    keys = tuple(option.key for option in question.options)
    evenly = (1 / len(keys),) * len(keys) if keys else ()
    match question.type:
        case QuestionType.NOUL:
            return NoulAnswer(probability(state, question))
        case QuestionType.CHOICE:
            return ChoiceAnswer(keys, evenly)
        case QuestionType.SCORE:
            return ScoreAnswer(tuple(o.text or o.key for o in question.options), evenly)
        case QuestionType.SET:
            return SetAnswer(keys, evenly)
        case QuestionType.SPAN:
            return SpanAnswer(())


@dataclass(frozen=True, slots=True)
class CountedRow:
    """A token for every four characters, padded to a multiple of 32."""

    row: Row

    @property
    def tokens(self) -> int:
        return len(self.row.state) // 4 + 1

    @property
    def cost(self) -> int:
        return self.bucket

    @property
    def bucket(self) -> int:
        return -(-self.tokens // 32) * 32


class FixedTimeEngine:
    """Sleeps for a forward, using no CPU: a stand-in for a GPU."""

    card = CARD

    def __init__(self, seconds: float = 0.05, max_rows: int = 16) -> None:
        self._seconds = seconds
        self._max_rows = max_rows

    def prepare(self, row: Row) -> CountedRow:
        return CountedRow(row)

    def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
        if len(rows) > self._max_rows:
            raise ValueError(f"{len(rows)} rows in a forward of at most {self._max_rows}")
        time.sleep(self._seconds)
        return [answers(row.row) for row in rows]


class RejectingEngine(FixedTimeEngine):
    """Answers at once, and reads no state that begins with ``REJECTED``."""

    REJECTED: ClassVar = "[picture]"
    MESSAGE: ClassVar = "the model reads no pictures"

    def __init__(self) -> None:
        super().__init__(0.0)

    def prepare(self, row: Row) -> CountedRow:
        if row.state.startswith(self.REJECTED):
            raise RejectedInput(AnswerError.INVALID_INPUT, self.MESSAGE)
        return super().prepare(row)


@dataclass(frozen=True)
class Entered:
    """A forward as it began: the machine's monotonic clock, which every process reads alike."""

    at: float
    states: tuple[str, ...]


class RecordingEngine(FixedTimeEngine):
    """Keeps which states entered which forward, and when. ``entered`` is of the whole process."""

    entered: ClassVar[list[Entered]] = []

    def __init__(self, seconds: float = 0.05, max_rows: int = 16, revision: str = "1") -> None:
        super().__init__(seconds, max_rows)
        self.card = CARD.model_copy(update={"revision": revision})

    def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
        self.entered.append(Entered(time.monotonic(), tuple(row.row.state for row in rows)))
        return super().forward(rows)


@dataclass
class GatedEngine:
    """Each forward waits until the test lets it go on. ``read``: the states it computed."""

    card: Card = CARD
    during: Callable[[Sequence[CountedRow]], None] = lambda rows: None
    started: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    gate: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    read: list[list[str]] = field(default_factory=list)

    def prepare(self, row: Row) -> CountedRow:
        return CountedRow(row)

    def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
        self.read.append([row.row.state for row in rows])
        self.started.release()
        if not self.gate.acquire(timeout=30):
            raise TimeoutError("the test never opened the gate")
        self.during(rows)
        return [answers(row.row) for row in rows]


class FolderEngine:
    """Steered from another process: while ``folder/shut`` is there a forward goes on. The states
    that were tokenised and those that entered a forward are lines of ``read`` and ``entered``.
    """

    card = CARD

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self, row: Row) -> CountedRow:
        self._write("read", row)
        return CountedRow(row)

    def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
        for row in rows:
            self._write("entered", row.row)
        while (self._folder / "shut").exists():
            time.sleep(0.01)
        return [answers(row.row) for row in rows]

    def _write(self, name: str, row: Row) -> None:
        with (self._folder / name).open("a") as file:
            file.write(row.state + "\n")


class TroubledEngine:
    """Fails in the way that a state names in brackets; to every other one it says a calm no.

    ``folder`` steers it from another process: while ``folder/starting`` is there it is not loaded,
    and while ``folder/shut`` is there a forward of ``[waits]`` goes on. The states that were
    tokenised and those that entered a forward are lines of ``read`` and ``entered``.
    """

    card = CARD
    CALM: ClassVar = NoulAnswer(0.25)
    NONSENSE: ClassVar[dict[str, Any]] = {
        "[nan]": NoulAnswer(math.nan),
        "[infinity]": NoulAnswer(math.inf),
        "[above one]": NoulAnswer(1.5),
        "[below zero]": NoulAnswer(-0.5),
        "[text]": NoulAnswer("no"),  # type: ignore[arg-type]
        "[number]": 0.25,
        "[another type]": SetAnswer(("yes",), (0.25,)),
    }
    FAILED: ClassVar[dict[str, Any]] = {
        "[no rows]": [],
        "[one row too many]": [(CALM,), (CALM,)],
        "[no answers]": [()],
        "[answer is none]": [(None,)],
        "[two answers]": [(CALM, CALM)],
        "[row is none]": [None],
        "[all is none]": None,
    }
    REJECTED: ClassVar = {
        "[picture]": AnswerError.INVALID_INPUT,
        "[endless]": AnswerError.MAX_LENGTH_EXCEEDED,
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._while("starting")

    def prepare(self, row: Row) -> CountedRow:
        for mark, reason in self.REJECTED.items():
            if mark in row.state:
                raise RejectedInput(reason, "the model does not read it")
        if "[unreadable]" in row.state:
            raise ValueError(row.state)
        self._write("read", row)
        return CountedRow(row)

    def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
        states = [row.row.state for row in rows]
        for row in rows:
            self._write("entered", row.row)
        if any("[dies]" in state for state in states):
            os.kill(os.getpid(), signal.SIGKILL)
        if any("[raises]" in state for state in states):
            raise ValueError(states)
        if any("[waits]" in state for state in states):
            self._while("shut")
        for mark, whole in self.FAILED.items():
            if any(mark in state for state in states):
                return whole
        return [(self._answer(row.row.state),) * len(row.row.questions) for row in rows]

    def _answer(self, state: str) -> Answer:
        return next((a for mark, a in self.NONSENSE.items() if mark in state), self.CALM)

    def _while(self, name: str) -> None:
        while (self._folder / name).exists():
            time.sleep(0.01)

    def _write(self, name: str, row: Row) -> None:
        with (self._folder / name).open("a") as file:
            file.write(row.state + "\n")
