"""Percentiles, spreads and paired ratios."""

from math import exp, inf, log, sqrt
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.harness.statistics import Mean, Spread, paired_ratio, percentile

POSITIVE = st.floats(0.01, 1e6)
PAIRS = st.lists(st.tuples(POSITIVE, POSITIVE), min_size=2, max_size=12)


def test_percentiles_interpolate_between_ranks() -> None:
    assert percentile([4, 1, 3, 2], 0.5) == 2.5
    assert percentile([1, 2, 3, 4, 5], 0.25) == 2
    assert percentile([7], 0.99) == 7


@given(st.lists(POSITIVE, min_size=1, max_size=50), st.floats(0, 1))
def test_a_percentile_lies_within_the_values(values: list[float], share: float) -> None:
    assert min(values) <= percentile(values, share) * (1 + 1e-12)
    assert percentile(values, share) <= max(values) * (1 + 1e-12)


def test_a_spread_holds_median_and_extremes() -> None:
    assert Spread.of([3, 1, 2]) == Spread(2, 1, 3)


def test_the_same_ratio_in_every_round_has_no_width() -> None:
    ratio = paired_ratio([2, 20, 200], [1, 10, 100])
    assert (ratio.mean, ratio.low, ratio.high) == pytest.approx((2, 2, 2))
    assert ratio.rounds == 3


def test_the_interval_is_students_t_over_the_logarithms() -> None:
    over, under = [1.2, 1.5, 1.1, 1.4, 1.3, 1.6, 1.2], [1.0, 1.1, 0.9, 1.2, 1.0, 1.1, 1.1]
    logs = [log(a / b) for a, b in zip(over, under, strict=True)]
    half = 2.447 * stdev(logs) / sqrt(7)  # 97.5 % of t with 6 degrees of freedom
    ratio = paired_ratio(over, under)
    assert ratio.mean == pytest.approx(exp(fmean(logs)))
    assert ratio.low == pytest.approx(exp(fmean(logs) - half))
    assert ratio.high == pytest.approx(exp(fmean(logs) + half))


@given(PAIRS)
def test_swapping_the_two_inverts_the_ratio(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    ratio, inverse = paired_ratio(first, second), paired_ratio(second, first)
    assert ratio.mean == pytest.approx(1 / inverse.mean)
    assert ratio.low <= ratio.mean * (1 + 1e-9)
    assert ratio.mean <= ratio.high * (1 + 1e-9)


def test_one_round_has_no_interval() -> None:
    ratio = paired_ratio([3], [2])
    assert (ratio.mean, ratio.low, ratio.high) == (pytest.approx(1.5), 0, inf)


def test_the_interval_of_a_mean_is_students_t_and_may_hold_zero() -> None:
    values = [-1.0, 2.0, 0.5]
    half = 4.303 * stdev(values) / sqrt(3)  # 97.5 % of t with 2 degrees of freedom
    found = Mean.of(values)
    assert (found.mean, found.low, found.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half))
    assert Mean.of([4.0]) == Mean(4.0, -inf, inf)
