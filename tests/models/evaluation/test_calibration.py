"""ECE and reliability: SRV-19."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.evaluation.calibration import BINS, Claims, Ece, bins_of, reliability

PROBABILITIES = arrays(float, st.integers(1, 60), elements=st.floats(0, 1, width=16))


def ece(p: object, right: object) -> float:
    claims = Claims.of(np.array(p), np.array(right))
    return float(Ece(claims)(np.ones(len(claims))))


def test_a_calibrated_model_has_a_small_error() -> None:
    rng = np.random.default_rng(7)
    p = rng.random(20_000)
    assert ece(p, rng.random(20_000) < p) < 0.015


def test_an_overconfident_model_has_its_overconfidence() -> None:
    rng = np.random.default_rng(7)
    p = rng.uniform(0.5, 1, 20_000)
    assert ece(p, rng.random(20_000) < p - 0.2) == pytest.approx(0.2, abs=0.015)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.floats(0, 1))
def test_a_constant_model_has_its_distance_from_the_base_rate(right: list[bool], p: float) -> None:
    """In whatever order the data comes."""
    assert ece([p] * len(right), right) == pytest.approx(abs(p - np.mean(right)))


@given(PROBABILITIES)
def test_bins_follow_probabilities_and_equal_ones_share_a_bin(p: np.ndarray) -> None:
    bins = bins_of(p)
    assert bins.min() >= 0
    assert bins.max() < BINS
    order = np.argsort(p)
    assert np.all(np.diff(bins[order]) >= 0)
    for value in np.unique(p):
        assert len(set(bins[p == value])) == 1


@given(st.integers(1, 200))
def test_bins_of_different_probabilities_have_equal_mass(n: int) -> None:
    counts = np.bincount(bins_of(np.linspace(0, 1, n)), minlength=BINS)
    assert counts.max() - counts.min() <= 1


@given(PROBABILITIES)
def test_the_order_of_the_data_says_nothing(p: np.ndarray) -> None:
    right = p > 0.3
    order = np.random.default_rng(len(p)).permutation(len(p))
    assert ece(p[order], right[order]) == pytest.approx(ece(p, right))


@given(PROBABILITIES)
def test_the_error_is_that_of_the_shown_bins(p: np.ndarray) -> None:
    right = np.arange(len(p)) % 3 == 0
    bins = reliability(Claims.of(p, right))
    assert sum(one.count for one in bins) == len(p)
    shown = sum(one.count * abs(one.claimed - one.observed) for one in bins) / len(p)
    assert ece(p, right) == pytest.approx(shown)
    assert 0 <= shown <= 1


def test_without_claims_there_is_no_error() -> None:
    nothing = Claims.of([], [])
    assert np.isnan(Ece(nothing)(np.ones(3)))
    assert reliability(nothing) == ()


def test_claims_take_the_weight_of_their_answer() -> None:
    claims = Claims.of([0.8, 0.8, 0.2], [True, False, False], owner=[0, 0, 1])
    figure = Ece(claims)
    assert float(figure(np.array([1.0, 0.0]))) == pytest.approx(0.3)
    assert figure(np.array([[1.0, 0.0], [0.0, 5.0]])) == pytest.approx([0.3, 0.2])
