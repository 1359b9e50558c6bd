"""Questions and answers as values.

A question is text and options; its id belongs to whoever asks and is never part of it
(S1-2), so equal questions are equal values and share one computation (SRV-10).

What travels between processes has no slots: pickle writes and reads such instances in C, and
slotted frozen ones field by field in Python.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from sys import getsizeof
from typing import Any, Final, TypeAlias

from models.lru import Lru

JsonValue: TypeAlias = Any
"""A JSON value: str, int, float, bool, None, list or dict with string keys."""

GUARDS: Final = frozenset({"jailbreak", "harm", "pii"})
"""Presets that must not be answered about a text that was not read (SRV-17)."""


class QuestionType(StrEnum):
    NOUL = "noul"
    CHOICE = "choice"
    SCORE = "score"
    SET = "set"
    SPAN = "span"


class AnswerError(StrEnum):
    """Why a question has no answer. The first six stand on the wire (S1-12)."""

    INVALID_QUESTION = "invalid_question"
    INVALID_INPUT = "invalid_input"
    MAX_LENGTH_EXCEEDED = "max_length_exceeded"
    INVALID_MODEL_OUTPUT = "invalid_model_output"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    UNAVAILABLE = "unavailable"
    OVERLOADED = "overloaded"
    NOT_READY = "not_ready"


@dataclass(frozen=True)
class Option:
    """One option of a question.

    ``key`` is what the answer names, byte for byte; ``text`` is the rendered description,
    ``None`` where the asker gave none. A score's levels have the keys ``"0"`` … ``"n-1"``.
    """

    key: str
    text: str | None = None


@dataclass(frozen=True)
class Question:
    """A typed question, rendered to text.

    ``options``: the options of a choice, the levels of a score, the labels of a set or a
    span; of a noul its described outcomes (keys ``true`` and ``false``) or none.
    ``threshold`` and the name of the ``preset`` ride along and are no part of the content
    (CACHE-3). Whether it ``guards`` is: a guard may have no answer where the same text asked by
    anyone else has one, so the two share none (SRV-17).

    A process that receives a question again gets the instance it has, digest and all: the few
    questions of a configuration travel with every call.
    """

    type: QuestionType
    instructions: str = ""
    options: tuple[Option, ...] = ()
    preset: str | None = field(default=None, compare=False)
    threshold: float | None = field(default=None, compare=False)
    guards: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "guards", self.preset in GUARDS)

    def digest(self) -> bytes:
        """32 bytes that name the content: type, instructions, options in order, guard or not.

        Questions are strangers' texts, and nobody may find two with one digest: one would be
        answered with the other's answer.
        """
        return self._digest

    @cached_property
    def characters(self) -> int:
        """Of all its texts."""
        return len(self.instructions) + sum(
            [len(option.key) + len(option.text or "") for option in self.options]
        )

    @cached_property
    def memory(self) -> int:
        """Bytes that it takes, roughly, with its written form and all it knows of itself."""
        written = getsizeof(self._packed)
        texts = [text for o in self.options for text in (o.key, o.text) if text is not None]
        return (
            QUESTION_BYTES
            + OPTION_BYTES * len(self.options)
            + written
            + getsizeof(self.instructions)
            + sum(map(getsizeof, texts))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self._packed,)

    @cached_property
    def _packed(self) -> bytes:
        options = tuple([(option.key, option.text) for option in self.options])
        return pickle.dumps(
            (self.type.value, self.instructions, options, self.preset, self.threshold)
        )

    @cached_property
    def _digest(self) -> bytes:
        h = blake2b(digest_size=32)
        guard = "\1" if self.guards else "\0"
        for part in (guard, self.type.value, self.instructions, *_flat(self.options)):
            data = part.encode("utf-8", "surrogatepass")
            h.update(len(data).to_bytes(8, "little"))
            h.update(data)
        return h.digest()


QUESTION_BYTES: Final = 1024
OPTION_BYTES: Final = 128
"""What a question and an option take beside their texts, roughly."""

_RECEIVED: Final[Lru[bytes, Question]] = Lru(4096, 32 * 2**20, 2**18)
"""By their written form: at most 32 MB in a process, and no question of more than 256 kB."""


def _received(packed: bytes) -> Question:
    known = _RECEIVED.get(packed)
    if known is not None:
        return known
    kind, instructions, options, preset, threshold = pickle.loads(packed)
    question = Question(
        QuestionType(kind),
        instructions,
        tuple(Option(key, text) for key, text in options),
        preset,
        threshold,
    )
    vars(question)["_packed"] = packed  # so that it is held once, and written on as it came
    _RECEIVED.put(packed, question, question.memory)
    return question


def _flat(options: tuple[Option, ...]) -> list[str]:
    return [s for o in options for s in (o.key, "\0" if o.text is None else "\1" + o.text)]


@dataclass(frozen=True)
class NoulAnswer:
    """``probability``: P(yes), 0 to 1."""

    probability: float


@dataclass(frozen=True)
class ChoiceAnswer:
    """``probabilities`` beside ``keys``, in the question's order, summing to 1.

    ``chosen``: the index of the option that the model itself calls the most likely, where rounded
    probabilities do not tell it from others; else ``None``.
    """

    keys: tuple[str, ...]
    probabilities: tuple[float, ...]
    chosen: int | None = None

    @property
    def winner(self) -> int:
        """The index of the most likely option; ties go to the first."""
        if self.chosen is not None:
            return self.chosen
        return self.probabilities.index(max(self.probabilities))

    @property
    def choice(self) -> str:
        return self.keys[self.winner]


@dataclass(frozen=True)
class ScoreAnswer:
    """``probabilities`` beside ``levels`` (rendered texts, lowest first), summing to 1."""

    levels: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def score(self) -> float:
        """The expected level, from 0."""
        return sum(i * p for i, p in enumerate(self.probabilities))


@dataclass(frozen=True)
class SetAnswer:
    """Independent ``probabilities`` beside ``keys``."""

    keys: tuple[str, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True)
class Span:
    """``start`` and ``end`` count Unicode code points of the state's text; end exclusive."""

    label: str
    start: int
    end: int
    text: str
    probability: float


@dataclass(frozen=True)
class SpanAnswer:
    spans: tuple[Span, ...]

    @property
    def probability(self) -> float:
        """P(there is a span): the best span's probability, 0 without spans."""
        return max((s.probability for s in self.spans), default=0.0)


@dataclass(frozen=True)
class ErrorAnswer:
    """No answer, and why. ``message`` holds none of the input."""

    error: AnswerError
    message: str = ""


Answer: TypeAlias = NoulAnswer | ChoiceAnswer | ScoreAnswer | SetAnswer | SpanAnswer | ErrorAnswer
