"""Summaries of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, median, stdev
from typing import Final

_T_95: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Student's t, two-sided 95 %, for 1 to 30 degrees of freedom."""


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` (0 to 1) of ``values`` lie, between ranks interpolated."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over rounds: median, least and greatest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(median(values), min(values), max(values))


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient over paired rounds: geometric mean and 95 % interval of it.

    With one round the interval is unknown: 0 to infinity.
    """

    mean: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Mean:
    """Of a figure over rounds, with its 95 % interval by Student's t.

    With one round the interval is unknown: minus to plus infinity.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        mean = fmean(values)
        if len(values) == 1:
            return cls(mean, -inf, inf)
        t = _T_95[min(len(values) - 1, len(_T_95)) - 1]
        half = t * stdev(values) / sqrt(len(values))
        return cls(mean, mean - half, mean + half)


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Ratio:
    """The ratio of two variants measured in the same rounds.

    Student's t over the logarithms of the rounds' ratios: what slows a whole round down
    cancels, and a ratio and its inverse are treated alike.
    """
    logs = Mean.of([log(a / b) for a, b in zip(numerators, denominators, strict=True)])
    return Ratio(exp(logs.mean), exp(logs.low), exp(logs.high), len(numerators))
