"""How far figures of a sample may be off.

Two intervals of 95 %: Wilson's for a proportion of independent answers, which stays honest where
all are right, and the percentile bootstrap for everything else and for grouped data. The bootstrap
draws whole clusters: what was written from one brief is as good as one answer, not as many.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from typing import Final, Literal

import numpy as np

from models.evaluation.statistic import Floats, Ints, Ratio, Statistic

RESAMPLES: Final = 1_000
SEED: Final = 20_000
_Z: Final = 1.959963984540054
"""Of the normal distribution, two-sided 95 %."""

_BATCH: Final = 2_000_000
"""Most weights held at a time: 16 MB."""


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval. ``value`` is ``None`` where the data has no such figure, the
    interval where it cannot be told: fewer than two clusters."""

    value: float | None
    low: float | None = None
    high: float | None = None
    method: Literal["wilson", "bootstrap"] | None = None


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Wilson's score interval (JASA 22, 1927), of at least one trial:
    ``(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)``."""
    p, z2 = successes / trials, _Z * _Z
    middle = p + z2 / (2 * trials)
    half = _Z * sqrt(max(0.0, p * (1 - p)) / trials + z2 / (4 * trials * trials))
    scale = 1 + z2 / trials
    return max(0.0, min(p, (middle - half) / scale)), min(1.0, max(p, (middle + half) / scale))


def resampled(places: Ints, *, resamples: int, seed: int) -> Iterator[Floats]:
    """Weights ``(some, n)`` of as many resamples, batch by batch. ``places``: ``(n,)``, the
    cluster of each answer, from 0; as many clusters are drawn as there are."""
    clusters = int(places.max()) + 1
    rng = np.random.default_rng(seed)
    most = max(1, _BATCH // max(clusters, len(places)))
    for start in range(0, resamples, most):
        count = min(most, resamples - start)
        drawn = rng.integers(clusters, size=(count, clusters))
        drawn += np.arange(count)[:, None] * clusters
        times = np.bincount(drawn.ravel(), minlength=count * clusters).reshape(count, clusters)
        yield times[:, places].astype(np.float64)


def estimates(
    statistics: Mapping[str, Statistic],
    clusters: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Estimate]:
    """Each figure with its interval. ``clusters``: of the n answers that the figures weigh."""
    number = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    places = np.array([number[cluster] for cluster in clusters], dtype=np.int64)
    ones = np.ones(len(places))
    values = {name: float(statistic(ones)) for name, statistic in statistics.items()}
    independent = len(number) == len(places)
    found: dict[str, Estimate] = {}
    left: dict[str, Statistic] = {}
    for name, statistic in statistics.items():
        if isnan(values[name]):
            found[name] = Estimate(None)
        elif independent and isinstance(statistic, Ratio) and statistic.plain:
            low, high = wilson(statistic.successes, statistic.trials)
            found[name] = Estimate(values[name], low, high, "wilson")
        else:
            left[name] = statistic
    if left and len(number) > 1:
        draws: dict[str, list[Floats]] = {name: [] for name in left}
        for weights in resampled(places, resamples=resamples, seed=seed):
            for name, statistic in left.items():
                draws[name].append(statistic(weights))
        for name, drawn in draws.items():
            found[name] = _percentiles(values[name], np.concatenate(drawn))
    return {name: found.get(name) or Estimate(values[name]) for name in statistics}


def _percentiles(value: float, drawn: Floats) -> Estimate:
    """The middle 95 % of the resamples that have the figure, and the value itself: a figure that
    chance only raises may be higher in nearly every resample. None where most lack the figure."""
    known = drawn[~np.isnan(drawn)]
    if 2 * len(known) < len(drawn):
        return Estimate(value)
    low, high = np.percentile(known, [2.5, 97.5])
    return Estimate(value, min(value, float(low)), max(value, float(high)), "bootstrap")
