"""Whether probabilities mean what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from models.evaluation.statistic import Bools, Floats, Ints, divided

BINS: Final = 10


@dataclass(frozen=True, eq=False)
class Claims:
    """Probabilities and what came true, ``(m,)`` each. ``owner``: the answer that made each."""

    probability: Floats
    right: Bools
    owner: Ints

    @classmethod
    def of(cls, probability: ArrayLike, right: ArrayLike, owner: ArrayLike | None = None) -> Claims:
        """``owner`` by default: a claim an answer."""
        p = np.asarray(probability, dtype=np.float64)
        own = np.arange(len(p)) if owner is None else np.asarray(owner, dtype=np.int64)
        return cls(p, np.asarray(right, dtype=bool), own)

    def __len__(self) -> int:
        return len(self.probability)


def bins_of(p: Floats, count: int = BINS) -> Ints:
    """The bin, from 0, of each probability ``(m,)``: bins of equal mass, lowest first.

    Equal probabilities share a bin, that of their middle rank: which of them stands first says
    nothing, and a model that always claims the same must not be cut by the order of the data.
    """
    _, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    of_value = (middle * count // max(1, len(p))).astype(np.int64)
    bins: Ints = of_value[place]
    return bins


class Ece:
    """Expected calibration error: ``sum over bins of |sum of w (p - right)| / sum of w``, which is
    the mean gap between claimed and observed (Naeini, Cooper, Hauskrecht, AAAI 2015) over bins of
    equal mass (Nguyen and O'Connor, EMNLP 2015).

    The bins are those of the sample in every resample. Chance alone makes gaps, so the figure of
    few claims is too high, and a resample's higher still.
    """

    def __init__(self, claims: Claims) -> None:
        bins = bins_of(claims.probability)
        order = np.argsort(bins, kind="stable")
        self._owner = claims.owner[order]
        self._gap = (claims.probability - claims.right)[order]
        self._starts = np.unique(bins[order], return_index=True)[1]

    def __call__(self, weights: Floats) -> Floats:
        if not len(self._gap):
            return np.full(weights.shape[:-1], np.nan)
        of_each = weights[..., self._owner]
        gaps = np.add.reduceat(of_each * self._gap, self._starts, axis=-1)
        return divided(np.abs(gaps).sum(axis=-1), of_each.sum(axis=-1))


@dataclass(frozen=True)
class Bin:
    """``claimed``: mean probability of its ``count`` claims. ``observed``: share that came true."""

    count: int
    claimed: float
    observed: float


def reliability(claims: Claims) -> tuple[Bin, ...]:
    """The bins that hold claims, lowest first."""
    bins = bins_of(claims.probability)
    return tuple(
        Bin(
            int(inside.sum()),
            float(claims.probability[inside].mean()),
            float(claims.right[inside].mean()),
        )
        for inside in (bins == b for b in np.unique(bins))
    )
