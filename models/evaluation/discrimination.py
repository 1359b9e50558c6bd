"""How well answers tell truths apart."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.evaluation.statistic import Bools, Floats, Ints, MeanOf, Ratio, divided


class Auc:
    """P(p of a yes > p of a no) + P(equal) / 2 for a random yes and a random no: the
    Mann-Whitney statistic (Hanley and McNeil, Radiology 143, 1982). NaN without one of both.

    ``p`` and ``truth``: ``(m,)``. ``owner``: ``(m,)``, the answer whose weight each takes.
    """

    def __init__(self, p: ArrayLike, truth: ArrayLike, owner: ArrayLike | None = None) -> None:
        probabilities: Floats = np.asarray(p, dtype=np.float64)
        order = np.argsort(probabilities, kind="stable")
        ordered = probabilities[order]
        self._truth: Bools = np.asarray(truth, dtype=bool)[order]
        self._owner: Ints = order if owner is None else np.asarray(owner, dtype=np.int64)[order]
        new = np.concatenate([np.ones(1, bool), ordered[1:] != ordered[:-1]])
        self._starts: Final = np.flatnonzero(new)  # where runs of equal probabilities begin

    def __call__(self, weights: Floats) -> Floats:
        of_each = weights[..., self._owner]
        yes = np.add.reduceat(of_each * self._truth, self._starts, axis=-1)
        no = np.add.reduceat(of_each * ~self._truth, self._starts, axis=-1)
        below = np.cumsum(no, axis=-1) - no
        won = (yes * (below + no / 2)).sum(axis=-1)
        return divided(won, yes.sum(axis=-1) * no.sum(axis=-1))


def f1(found: ArrayLike, true: ArrayLike, right: ArrayLike) -> Ratio:
    """``2 * right / (found + true)``: counts for each answer, ``(n,)``, summed over answers before
    they are divided (micro F1)."""
    both = np.asarray(found, dtype=np.float64) + np.asarray(true, dtype=np.float64)
    return Ratio(2 * np.asarray(right, dtype=np.float64), both)


def macro_f1(chosen: NDArray[np.str_], true: NDArray[np.str_]) -> MeanOf:
    """The mean F1 of the classes that are chosen or true anywhere, each ``(n,)`` keys. In a
    resample without a class that class is left out of the mean.
    """
    classes = np.union1d(chosen, true)
    return MeanOf(
        [f1(chosen == key, true == key, (chosen == key) & (true == key)) for key in classes]
    )
