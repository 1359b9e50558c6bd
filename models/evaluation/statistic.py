"""Figures as functions of how often each answer counts.

The bootstrap draws answers again with replacement: a resample is nothing but a weight for each.
A figure that takes weights of shape ``(..., n)`` computes many resamples in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

Statistic: TypeAlias = Callable[[Floats], Floats]
"""Weights ``(..., n)`` of n answers -> figures ``(...)``, NaN where there is none."""


@dataclass(frozen=True, eq=False)
class Ratio:
    """``sum(w * numerator) / sum(w * denominator)``, each of shape ``(n,)``.

    ``plain``: a proportion, of independent trials where answers are: at most one an answer.
    """

    numerator: Floats
    denominator: Floats
    plain: bool = False

    @classmethod
    def share(cls, hits: ArrayLike, among: ArrayLike | None = None) -> Ratio:
        """Of the answers ``among`` which are ``hits``; both ``(n,)``, of 0 to 1 each."""
        hit = np.asarray(hits, dtype=np.float64)
        all = np.ones_like(hit) if among is None else np.asarray(among, dtype=np.float64)
        return cls(hit * all, all, plain=True)

    @property
    def successes(self) -> float:
        return float(self.numerator.sum())

    @property
    def trials(self) -> float:
        return float(self.denominator.sum())

    def __call__(self, weights: Floats) -> Floats:
        return divided(weights @ self.numerator, weights @ self.denominator)


@dataclass(frozen=True, eq=False)
class MeanOf:
    """The mean of those ``parts`` that are figures, NaN where none is."""

    parts: Sequence[Statistic]

    def __call__(self, weights: Floats) -> Floats:
        values = np.stack([part(weights) for part in self.parts])
        known = ~np.isnan(values)
        return divided(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def divided(a: ArrayLike, b: ArrayLike) -> Floats:
    """``a / b``, NaN where ``b`` is 0."""
    over = np.asarray(b, dtype=np.float64)
    quotient = np.full(np.broadcast_shapes(np.shape(a), over.shape), np.nan)
    np.divide(np.asarray(a, dtype=np.float64), over, out=quotient, where=over != 0)
    return quotient
