"""Which calls the benchmark of questions makes in a round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from random import Random
from typing import Final

from benchmarks.harness.calls import MOST_QUESTIONS, Call

LENGTHS: Final = (30, 400)
"""Tokens of a state."""

SIZES: Final = (1, 2, 5, 6, 10, MOST_QUESTIONS)
"""Questions of one call."""


class Texts(StrEnum):
    """Whether the model has met the texts of the questions, as in service, or meets them now."""

    KNOWN = "known"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Play:
    """A call in its part of the curve. ``alone``: the place of the question that it asks as a
    single call, ``None`` where it asks its questions together.
    """

    texts: Texts
    call: Call
    alone: int | None = None


@dataclass(slots=True)
class Plan:
    """The calls of a contestant's rounds. No state is asked about twice, and no new text.

    ``repeats``: calls of each size in a round; ``singles``: questions that are also asked alone,
    of either kind of texts.
    Generation 0 of the questions is the known one.
    """

    repeats: int
    singles: Mapping[Texts, int]
    random: Random
    _states: Iterator[int] = field(default_factory=count)
    _generations: Iterator[int] = field(default_factory=lambda: count(1))

    def round(self) -> list[Play]:
        """All calls of a round in random order, so that a drift of the machine meets all alike."""
        plays = [
            play for tokens in LENGTHS for texts in Texts for play in self._curve(tokens, texts)
        ]
        self.random.shuffle(plays)
        return plays

    def warm_up(self) -> list[Play]:
        """Makes every known question's texts known, at each length and size."""
        return [
            Play(Texts.KNOWN, self._call(tokens, range(size)))
            for tokens in LENGTHS
            for size in SIZES
        ]

    def _curve(self, tokens: int, texts: Texts) -> Iterator[Play]:
        for size in SIZES:
            for _ in range(self.repeats):
                first = self._first(texts)
                yield Play(texts, self._call(tokens, range(first, first + size)))
        first = self._first(texts)
        for place in range(self.singles[texts]):
            yield Play(texts, self._call(tokens, [first + place]), alone=place)

    def _first(self, texts: Texts) -> int:
        return next(self._generations) * MOST_QUESTIONS if texts is Texts.NEW else 0

    def _call(self, tokens: int, questions: Sequence[int]) -> Call:
        return Call(next(self._states), tokens, tuple(questions))
