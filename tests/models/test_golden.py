"""Golden questions: SRV-11."""

import pytest

from models.cards.shipped import shipped_card
from models.golden import GoldenMismatchError, check_golden, golden_questions
from models.questions.types import (
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from tests.doubles.scripted_engine import ScriptedEngine

KINDS = {
    QuestionType.CHOICE: ChoiceAnswer,
    QuestionType.SCORE: ScoreAnswer,
    QuestionType.SET: SetAnswer,
}


def recorded(state, question, shift=0.0):
    (golden,) = [
        g for g in golden_questions("embedded") if (g.state, g.question) == (state, question)
    ]
    if question.type is QuestionType.NOUL:
        return NoulAnswer(golden.probabilities[0] - shift)
    if question.type is QuestionType.SPAN:
        return SpanAnswer(
            tuple(
                Span(label, start, end, state[start:end], p - shift)
                for (label, start, end), p in zip(golden.spans, golden.probabilities, strict=True)
            )
        )
    keys = tuple(option.key for option in question.options)
    return KINDS[question.type](keys, tuple(p - shift for p in golden.probabilities))


@pytest.mark.parametrize("precision", ["engine", "half_engine"])
def test_the_shipped_model_gives_its_golden_answers(precision, request):
    """SRV-11, SRV-13"""
    check_golden(request.getfixturevalue(precision))


def test_every_type_of_the_card_has_a_golden_question():
    """SRV-11"""
    card = shipped_card("embedded")
    assert {g.question.type for g in golden_questions("embedded")} == card.question_types


def test_a_type_without_a_golden_question_is_not_ready(monkeypatch):
    """SRV-11"""
    card = shipped_card("embedded")
    spanless = [g for g in golden_questions("embedded") if g.question.type is not QuestionType.SPAN]
    monkeypatch.setattr("models.golden.golden_questions", lambda _: spanless)
    with pytest.raises(GoldenMismatchError, match="type span"):
        check_golden(ScriptedEngine(card, recorded))


def test_an_engine_that_answers_otherwise_is_not_ready():
    """SRV-11"""
    card = shipped_card("embedded")
    check_golden(ScriptedEngine(card, recorded))
    with pytest.raises(GoldenMismatchError, match=r"noul.*choice.*score.*set.*span"):
        check_golden(ScriptedEngine(card, lambda s, q: recorded(s, q, shift=0.1)))
    error = ErrorAnswer(AnswerError.UNAVAILABLE)
    with pytest.raises(GoldenMismatchError, match="no answer"):
        check_golden(ScriptedEngine(card, lambda s, q: error))
