"""The baseline: zero-shot answers from the directions of texts, with nothing trained.

A description is a mixture of von Mises-Fisher densities on the unit sphere, one of concentration
``KAPPA`` around each of its elements, and a state is a point. A choice and a score are the
posterior of their options under equal priors. A noul weighs its described outcome, else its
instructions, against the other outcome and against what ordinary texts reach: a level ``FLOOR``
standard deviations above the mean of the background texts. A set is a noul per label. No option
sees another's key, place or number, so order and ids change nothing.

``KAPPA`` and ``FLOOR`` were chosen on some 300 short texts of which none is in the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.embedded.described import elements
from models.embedded.odds import probability
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
)

KAPPA: Final = 25.0
FLOOR: Final = 1.5

Vectors = NDArray[np.float32]
"""``(n, width)``, each row of length 1."""

Lookup = Callable[[str], Vectors]
"""A text's vector, ``(width,)``."""


def texts_of(question: Question) -> tuple[str, ...]:
    """Every text whose vector ``assemble`` asks for."""
    return tuple(element for side in _sides(question) for element in side)


def _sides(question: Question) -> list[tuple[str, ...]]:
    """The elements of each option; of a noul those for yes and those for no, either maybe none."""
    if question.type is not QuestionType.NOUL:
        return [_described(option) for option in question.options]
    outcomes = {option.key: _described(option) for option in question.options}
    yes = outcomes.get("true", (question.instructions,) if question.instructions else ())
    return [yes, outcomes.get("false", ())]


def _described(option: Option) -> tuple[str, ...]:
    return elements(option.text or option.key)


@dataclass(frozen=True, slots=True)
class _Mixtures:
    """Mixtures side by side: ``vectors`` of all, where each ``starts``, and their ``sizes``."""

    vectors: Vectors
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, sides: Iterable[Sequence[str]], lookup: Lookup) -> _Mixtures:
        lists = [[lookup(text) for text in side] for side in sides]
        sizes = np.array([len(vectors) for vectors in lists], dtype=np.intp)
        stacked = np.stack([vector for vectors in lists for vector in vectors])
        return cls(stacked, np.cumsum(sizes) - sizes, sizes)

    def log_density(self, states: Vectors) -> NDArray[np.float64]:
        """``(states, mixtures)`` log densities, up to one constant."""
        scaled = (states @ self.vectors.T).astype(np.float64) * KAPPA
        top = scaled.max(axis=1, keepdims=True)
        sums = np.add.reduceat(np.exp(scaled - top), self.starts, axis=1)
        logs: NDArray[np.float64] = np.log(sums / self.sizes) + top
        return logs


class Scorer:
    """A question with its vectors, ready for states."""

    def __init__(self, question: Question, lookup: Lookup, background: Vectors) -> None:
        self._kind = question.type
        self._keys = tuple(option.key for option in question.options)
        self._levels = tuple(option.text or option.key for option in question.options)
        sides = _sides(question)
        self._yes = bool(sides) and bool(sides[0])
        self._mixtures = _Mixtures.of([side for side in sides if side], lookup)
        ordinary = self._mixtures.log_density(background)
        self._floor = ordinary.mean(axis=0) + FLOOR * ordinary.std(axis=0)

    @property
    def memory(self) -> int:
        """Bytes that it takes, its question's names included."""
        arrays = (self._mixtures.vectors, self._mixtures.starts, self._mixtures.sizes, self._floor)
        names = self._keys + self._levels
        return sum(map(getsizeof, (*arrays, *names))) + 16 * len(names) + 1024

    def answer(self, chunks: Vectors) -> Answer:
        """The answer about a state of one or more ``chunks``.

        A noul and the labels of a set hold for the state if they hold for a chunk; a choice and
        a score read the mean of the chunks.
        """
        if self._kind is QuestionType.NOUL:
            return NoulAnswer(self._noul(chunks))
        if self._kind is QuestionType.SET:
            logits = (self._mixtures.log_density(chunks) - self._floor).max(axis=0)
            return SetAnswer(self._keys, tuple(probability(x) for x in logits.tolist()))
        weights = self._mixtures.log_density(_mean(chunks))[0]
        weights = np.exp(weights - weights.max())
        probabilities = tuple((weights / weights.sum()).tolist())
        if self._kind is QuestionType.SCORE:
            return ScoreAnswer(self._levels, probabilities)
        return ChoiceAnswer(self._keys, probabilities)

    def _noul(self, chunks: Vectors) -> float:
        density = self._mixtures.log_density(chunks)
        if not self._yes:
            return 1 - probability(float((density[:, 0] - self._floor[0]).min()))
        other = np.full(len(chunks), self._floor[0])
        if density.shape[1] > 1:
            other = np.logaddexp(other, density[:, 1])
        return probability(float((density[:, 0] - other).max()))


def _mean(chunks: Vectors) -> Vectors:
    if len(chunks) == 1:
        return chunks
    mean = chunks.mean(axis=0, keepdims=True)
    unit: Vectors = mean / np.linalg.norm(mean)
    return unit
