"""Confidence: S1-3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.confidence import choice_confidence, score_confidence

WEIGHTS = st.lists(st.floats(0, 1), min_size=1, max_size=20).filter(lambda w: sum(w) > 1e-3)


def distribution(weights: list[float]) -> list[float]:
    return [w / sum(weights) for w in weights]


@given(WEIGHTS)
def test_confidence_lies_between_0_and_1(weights):
    """S1-3"""
    assert 0 <= choice_confidence(distribution(weights)) <= 1
    assert 0 <= score_confidence(distribution(weights)) <= 1


@given(WEIGHTS)
def test_the_confidence_of_a_choice_does_not_depend_on_order(weights):
    """S1-3"""
    p = distribution(weights)
    assert choice_confidence(p) == choice_confidence(p[::-1])


@pytest.mark.parametrize("n", [2, 3, 10])
def test_certainty_is_1_and_uniform_choice_is_0(n):
    """S1-3"""
    assert choice_confidence([1.0] + [0.0] * (n - 1)) == 1
    assert score_confidence([1.0] + [0.0] * (n - 1)) == 1
    assert choice_confidence([1 / n] * n) == pytest.approx(0)


def test_worked_figures():
    """S1-3"""
    assert choice_confidence([0.7, 0.2, 0.1]) == pytest.approx(0.55)
    assert score_confidence([0.1, 0.8, 0.1]) == pytest.approx(1 - 0.2 / (2 / 3))
    assert choice_confidence([1.0]) == score_confidence([1.0]) == 1
