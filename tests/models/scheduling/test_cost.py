"""The expected cost of a forward. SRV-8"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embedded.remembered import QUESTIONS
from models.questions.types import Option, Question, QuestionType
from models.scheduling.cost import KNOWN_QUESTIONS, CostModel, TextCost


@pytest.mark.parametrize(("fixed_s", "token_s"), [(0.005, 2e-4), (0.05, 0.0), (0.0, 1e-3)])
def test_it_learns_a_line(fixed_s: float, token_s: float) -> None:
    cost = CostModel()
    for i in range(300):
        tokens = (32, 64, 512, 2048)[i % 4]
        cost.measured(tokens, fixed_s + tokens * token_s)
    for tokens in (32, 1024, 4096):
        expected = fixed_s + tokens * token_s
        assert cost.seconds(tokens) == pytest.approx(expected, rel=0.1, abs=0.002)


def test_it_learns_a_single_size() -> None:
    cost = CostModel()
    for _ in range(100):
        cost.measured(32, 0.05)
    assert cost.seconds(32) == pytest.approx(0.05, rel=0.05)


@given(st.lists(st.tuples(st.integers(1, 100_000), st.floats(0, 100)), max_size=50))
def test_a_prediction_is_never_negative(forwards: list[tuple[int, float]]) -> None:
    cost = CostModel()
    for tokens, seconds in forwards:
        cost.measured(tokens, seconds)
        assert cost.fixed_s >= 0
        assert cost.token_s >= 0


def test_the_cost_of_a_text_follows_the_texts_that_were_read() -> None:
    cost = TextCost()
    for _ in range(100):
        cost.measured(1000, 2000)
    assert cost.guess(500) == pytest.approx(1000, rel=0.01)
    assert cost.guess(0) >= 1


def test_a_question_counts_with_all_its_texts_until_it_was_answered() -> None:
    options = (Option("key", "described"), Option("bare"))
    first = Question(QuestionType.CHOICE, "which", options)
    cost = TextCost()
    assert cost.unread_characters(first) == len("which" + "key" + "described" + "bare")
    cost.answered(first)
    assert cost.unread_characters(first) == 0
    for i in range(KNOWN_QUESTIONS):
        cost.answered(Question(QuestionType.NOUL, str(i)))
    assert cost.unread_characters(first) > 0, "an engine forgets as well"
    assert KNOWN_QUESTIONS < QUESTIONS
