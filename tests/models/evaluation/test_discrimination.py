"""AUC and F1: SRV-19."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.discrimination import Auc, f1, macro_f1
from models.evaluation.statistic import MeanOf, Ratio

Pairs = list[tuple[float, bool, int]]
PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans(), st.integers(0, 3)),
    min_size=1,
    max_size=14,
)


def auc(pairs: Pairs) -> float:
    p, truth, weights = zip(*pairs, strict=True)
    return float(Auc(p, truth)(np.array(weights, float)))


def counted(pairs: Pairs) -> float:
    """Pair by pair, each as often as its members count."""
    yes = [p for p, true, times in pairs if true for _ in range(times)]
    no = [p for p, true, times in pairs if not true for _ in range(times)]
    if not yes or not no:
        return float("nan")
    return sum((a > b) + (a == b) / 2 for a, b in product(yes, no)) / (len(yes) * len(no))


@given(PAIRS)
def test_the_auc_is_the_share_of_pairs_in_order(pairs: Pairs) -> None:
    assert auc(pairs) == pytest.approx(counted(pairs), nan_ok=True)


@given(PAIRS)
def test_the_auc_depends_on_the_order_of_probabilities_alone(pairs: Pairs) -> None:
    bent = [(p**3 / 2, true, times) for p, true, times in pairs]
    assert auc(bent) == pytest.approx(auc(pairs), nan_ok=True)
    assert auc(pairs[::-1]) == pytest.approx(auc(pairs), nan_ok=True)


@given(PAIRS)
def test_opposite_answers_have_the_opposite_auc(pairs: Pairs) -> None:
    opposite = [(1 - p, true, times) for p, true, times in pairs]
    assert auc(opposite) == pytest.approx(1 - auc(pairs), nan_ok=True)


def test_known_aucs() -> None:
    p, truth = [0.9, 0.8, 0.8, 0.1], [True, True, False, False]
    assert auc([(x, y, 1) for x, y in zip(p, truth, strict=True)]) == 0.875
    assert auc([(0.5, True, 1), (0.5, False, 1)]) == 0.5


def test_many_resamples_are_computed_in_one_go() -> None:
    """Weights may have any shape before their last axis."""
    rng = np.random.default_rng(1)
    p, truth = rng.random(20).round(1), rng.random(20) < 0.5
    weights = rng.integers(0, 3, size=(2, 5, 20)).astype(float)
    figures = [
        Auc(p, truth),
        f1(p > 0.5, truth, (p > 0.5) & truth),
        macro_f1(p.astype(str), p.astype(str)),
    ]
    for figure in figures:
        one_by_one = [[float(figure(row)) for row in rows] for rows in weights]
        assert figure(weights) == pytest.approx(np.array(one_by_one))


def test_items_take_the_weight_of_their_answer() -> None:
    """Labels of a set are several items of one answer."""
    shared = Auc([0.9, 0.2, 0.4], [True, False, True], owner=[0, 0, 1])
    assert float(shared(np.array([1.0, 0.0]))) == 1.0
    assert np.isnan(shared(np.array([0.0, 1.0])))


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    figure = f1([1, 1, 0, 1], [1, 0, 1, 1], [1, 0, 0, 1])
    precision, recall = 2 / 3, 2 / 3
    expected = 2 * precision * recall / (precision + recall)
    assert float(figure(np.ones(4))) == pytest.approx(expected)


def test_macro_f1_is_of_the_classes_that_occur() -> None:
    """a: 2·1/(1+2), b: 2·1/(2+1), c, chosen only: 0."""
    figure = macro_f1(np.array(["a", "b", "b", "c"]), np.array(["a", "a", "b", "b"]))
    assert float(figure(np.ones(4))) == pytest.approx((2 / 3 + 2 / 4 + 0) / 3)
    assert float(figure(np.array([1.0, 0, 0, 0]))) == 1.0


def test_a_ratio_over_nothing_is_not_a_number() -> None:
    assert np.isnan(Ratio.share([1, 0], among=[0, 0])(np.ones(2)))
    assert np.isnan(MeanOf([Ratio.share([1], among=[0])])(np.ones(1)))
    half = MeanOf([Ratio.share([1], among=[0]), Ratio.share([1])])
    assert float(half(np.ones(1))) == 1.0
