"""What a rule measured, as numbers, and what is compared with them (CFG-4, CFG-5)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Question,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)
from serve_app.config.schema.predicate import Predicate
from serve_app.outcome import Truth


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers behind one rule.

    ``values``: one per option of its question in the question's order (of a span: the label's
    best span, 0 without one), or a single one (P(yes), an expected level, a count, 1 or 0).
    ``winner``: the index of a choice's most likely option. Without values the rule is unknown
    for ``reason``, or false where there is none: its question does not arise (SIG-2).
    ``windowed``: read in the windows of a long input, the values being the greatest of theirs
    (SCAN-4). ``unread``: what the windows that were not read say where the values of the others do
    not match (COV-1), with ``reason`` where that is nothing. ``open``: more windows are to come, so
    that what does not match is not known yet.
    """

    values: tuple[float, ...] = ()
    winner: int | None = None
    reason: AnswerError | None = None
    windowed: bool = False
    unread: Truth | None = None
    open: bool = False


NOT_ARISING = Reading()

Readings: TypeAlias = list[Reading | None]
"""By rule, in the recipe's order; ``None`` is a rule that has not been asked yet."""


def reading_of(question: Question, answer: Answer) -> Reading:
    """The numbers of an answer that was checked against ``question``, or why there are none."""
    match answer:
        case NoulAnswer(probability):
            return Reading((probability,))
        case ChoiceAnswer(_, probabilities):
            return Reading(probabilities, answer.winner)
        case ScoreAnswer():
            return Reading((answer.score,))
        case SetAnswer(_, probabilities):
            return Reading(probabilities)
        case SpanAnswer(spans):
            best = dict.fromkeys((option.key for option in question.options), 0.0)
            for span in spans:
                best[span.label] = max(best[span.label], span.probability)
            return Reading(tuple(best.values()))
        case ErrorAnswer(error):
            return Reading(reason=error)
        case _:
            assert_never(answer)


_OPERATORS: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
    ("gt", operator.gt),
    ("gte", operator.ge),
    ("lt", operator.lt),
    ("lte", operator.le),
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A predicate as comparisons, all of which must hold; none: everything meets it."""

    comparisons: tuple[tuple[Callable[[float, float], bool], float], ...]

    @classmethod
    def of(cls, predicate: Predicate) -> Bounds:
        return cls.make(**predicate.model_dump(exclude_none=True))

    @classmethod
    def make(cls, **bounds: float) -> Bounds:
        """``Bounds.make(gte=0.5)``: the file's names, its bounds."""
        return cls(tuple((op, bounds[name]) for name, op in _OPERATORS if name in bounds))

    @property
    def single(self) -> float | None:
        """The bound, where there is just one."""
        return self.comparisons[0][1] if len(self.comparisons) == 1 else None

    def holds(self, value: float) -> bool:
        return all(op(value, bound) for op, bound in self.comparisons)

    def deciding(self, value: float) -> float | None:
        """The bound that decides: the one broken most, else the nearest."""
        if len(self.comparisons) < 2:
            return self.single
        broken = [bound for op, bound in self.comparisons if not op(value, bound)]
        if broken:
            return max(broken, key=lambda bound: abs(value - bound))
        return min((bound for _, bound in self.comparisons), key=lambda bound: abs(value - bound))


@dataclass(frozen=True, slots=True)
class Criterion:
    """When a reading matches: some options' greatest value meets the bounds.

    ``options``: indices into ``Reading.values``. ``wins``: the choice's winner must be among
    them. ``bounds`` is ``None`` where winning is enough. ``of_windows``: the bounds of a reading in
    windows, where the model has others for them (SCAN-4).
    """

    options: tuple[int, ...]
    bounds: Bounds | None
    wins: bool = False
    of_windows: Bounds | None = None

    def bounds_of(self, reading: Reading) -> Bounds | None:
        return self.bounds if self.of_windows is None or not reading.windowed else self.of_windows

    def nearest_bound(self, reading: Reading, value: float) -> float | None:
        """What ``value`` would have to reach."""
        bounds = self.bounds_of(reading)
        return None if bounds is None else bounds.deciding(value)

    def value(self, reading: Reading) -> float | None:
        """The greatest value of the options; 0 if the question did not arise; else ``None``, also
        where windows that were not read could change it and say nothing."""
        values = reading.values
        if values and (reading.unread is Truth.UNKNOWN or reading.open) and not self.met(reading):
            return None
        if not values:
            return 0.0 if reading.reason is None and not reading.open else None
        if len(self.options) == 1:
            return values[self.options[0]]
        return max(values[i] for i in self.options)

    def truth(self, reading: Reading) -> Truth:
        if not reading.values:
            if reading.open:
                return Truth.UNKNOWN
            return Truth.FALSE if reading.reason is None else Truth.UNKNOWN
        if self.met(reading):
            return Truth.TRUE
        if reading.open:
            return Truth.UNKNOWN
        return Truth.FALSE if reading.unread is None else reading.unread

    def met(self, reading: Reading) -> bool:
        """Whether the values that there are match: of windows, unread ones cannot take that back
        (SCAN-5)."""
        if self.wins and reading.winner not in self.options:
            return False
        bounds = self.bounds_of(reading)
        if bounds is None:
            return True
        values, options = reading.values, self.options
        value = values[options[0]] if len(options) == 1 else max(values[i] for i in options)
        return all(op(value, bound) for op, bound in bounds.comparisons)
