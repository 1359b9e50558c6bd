"""What a rule measured, as numbers, and what is compared with them (CFG-4, CFG-5)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from models.questions.types import AnswerError
from serve_app.config.schema.predicate import Predicate
from serve_app.outcome import Truth


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers behind one rule.

    ``values``: one per option of its question in the question's order (of a span: the label's
    best span, 0 without one), or a single one (P(yes), an expected level, a count, 1 or 0).
    ``winner``: the index of a choice's most likely option. Without values the rule is unknown
    for ``reason``, or false where there is none: its question does not arise (SIG-2).
    """

    values: tuple[float, ...] = ()
    winner: int | None = None
    reason: AnswerError | None = None


NOT_ARISING = Reading()

Readings: TypeAlias = list[Reading | None]
"""By rule, in the recipe's order; ``None`` is a rule that has not been asked yet."""

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
    them. ``bounds`` is ``None`` where winning is enough.
    """

    options: tuple[int, ...]
    bounds: Bounds | None
    wins: bool = False

    def value(self, reading: Reading) -> float | None:
        """The greatest value of the options; 0 if the question did not arise; else ``None``."""
        values = reading.values
        if not values:
            return 0.0 if reading.reason is None else None
        if len(self.options) == 1:
            return values[self.options[0]]
        return max(values[i] for i in self.options)

    def truth(self, reading: Reading) -> Truth:
        values = reading.values
        if not values:
            return Truth.FALSE if reading.reason is None else Truth.UNKNOWN
        if self.wins and reading.winner not in self.options:
            return Truth.FALSE
        if self.bounds is None:
            return Truth.TRUE
        options = self.options
        value = values[options[0]] if len(options) == 1 else max(values[i] for i in options)
        for op, bound in self.bounds.comparisons:
            if not op(value, bound):
                return Truth.FALSE
        return Truth.TRUE
