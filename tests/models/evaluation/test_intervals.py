"""Intervals hold what they promise, counted on data whose truth is known: SRV-19."""

from __future__ import annotations

from math import comb, erf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.discrimination import Auc
from models.evaluation.intervals import Estimate, estimates, resampled, wilson
from models.evaluation.statistic import Floats, Ratio


def test_known_wilson_intervals() -> None:
    assert wilson(8, 10) == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert wilson(0, 10) == pytest.approx((0.0, 0.277533), abs=1e-6)
    assert wilson(10, 10) == pytest.approx((0.722467, 1.0), abs=1e-6)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_wilson_covers_the_true_share(p: float) -> None:
    """Exactly, over all outcomes of 50 answers."""
    n = 50
    covered = 0.0
    for k in range(n + 1):
        low, high = wilson(k, n)
        covered += comb(n, k) * p**k * (1 - p) ** (n - k) * (low <= p <= high)
    assert 0.92 < covered < 0.98


def test_the_bootstrap_covers_the_true_auc() -> None:
    """Of two normal distributions a deviation apart it is Phi(1 / sqrt 2)."""
    rng = np.random.default_rng(3)
    true = (1 + erf(0.5)) / 2
    covered = 0
    for _ in range(200):
        truth = np.arange(80) % 2 == 0
        figure = {"auc": Auc(rng.normal(size=80) + truth, truth)}
        one = estimates(figure, range(80), resamples=200)["auc"]
        assert one.low is not None
        assert one.high is not None
        covered += one.low <= true <= one.high
    assert 180 <= covered <= 199


def test_whole_groups_are_resampled_and_cover_where_single_answers_would_not() -> None:
    """Forty groups of five equal answers are worth forty answers."""
    rng = np.random.default_rng(4)
    grouped = alone = 0
    groups = [line // 5 for line in range(200)]
    for _ in range(200):
        right = np.repeat(rng.random(40) < 0.7, 5)
        one = estimates({"a": Ratio.share(right)}, groups, resamples=200)["a"]
        assert one.method == "bootstrap"
        assert one.low is not None
        assert one.high is not None
        grouped += one.low <= 0.7 <= one.high
        low, high = wilson(right.sum(), 200)
        alone += low <= 0.7 <= high
    assert 176 <= grouped <= 199
    assert alone < 150


def test_a_group_is_drawn_whole_and_as_many_groups_as_there_are() -> None:
    places = np.array([0, 0, 1, 2, 2, 2])
    weights = np.concatenate(list(resampled(places, resamples=50, seed=1)))
    assert weights.shape == (50, 6)
    assert np.all(weights[:, 0] == weights[:, 1])
    assert np.all(weights[:, 3] == weights[:, 5])
    assert np.all(weights[:, [0, 2, 3]].sum(axis=1) == 3)


def test_large_data_is_resampled_batch_by_batch() -> None:
    batches = list(resampled(np.arange(300_000), resamples=8, seed=1))
    assert [len(batch) for batch in batches] == [6, 2]


def test_a_proportion_of_independent_answers_is_wilsons_and_the_rest_bootstrapped() -> None:
    share = Ratio.share([1, 1, 0, 1])
    mean = Ratio(np.array([1.0, 2, 3, 4]), np.ones(4))
    found = estimates({"share": share, "mean": mean}, range(4))
    assert found["share"] == Estimate(0.75, *wilson(3, 4), "wilson")
    assert found["mean"].method == "bootstrap"
    assert estimates({"share": share}, "aabb")["share"].method == "bootstrap"


def test_an_interval_is_told_only_where_it_can_be() -> None:
    """One group says nothing of how groups differ; without a figure there is none."""
    mean = Ratio(np.array([1.0, 2.0]), np.ones(2))
    assert estimates({"m": mean}, "aa") == {"m": Estimate(1.5)}
    assert estimates({"s": Ratio.share([1], among=[0])}, "a") == {"s": Estimate(None)}
    lonely = Ratio(np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 0, 0]))
    assert estimates({"m": lonely}, range(4))["m"].low == 1.0  # in 68 % of the resamples
    assert estimates({"m": _rare}, range(4)) == {"m": Estimate(1.0)}


def _rare(weights: Floats) -> Floats:
    """A figure that no resample has."""
    return np.where(np.ptp(weights, axis=-1) == 0, 1.0, np.nan)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=2, max_size=20),
    st.integers(0, 9),
)
def test_an_interval_holds_its_value_and_a_seed_names_it(
    data: list[tuple[float, int]], seed: int
) -> None:
    values = np.array([value for value, _ in data])
    figure = {"m": Ratio(values, np.ones(len(values)))}
    clusters = [cluster for _, cluster in data]
    one = estimates(figure, clusters, resamples=50, seed=seed)["m"]
    assert one == estimates(figure, clusters, resamples=50, seed=seed)["m"]
    assert one.value is not None
    if one.low is not None and one.high is not None:
        assert values.min() - 1e-9 <= one.low <= one.value <= one.high <= values.max() + 1e-9
    else:
        assert len(set(clusters)) == 1
