"""Answers as JSON: S1-3, S1-11, S1-12."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import (
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from models.questions.wire import answer_json

NOUL = Question(QuestionType.NOUL, "Is it?")
CHOICE = Question(QuestionType.CHOICE, "Which?", (Option("a"), Option("b")))
SCORE = Question(QuestionType.SCORE, "How?", (Option("0", "low"), Option("1", "high")))
SET = Question(QuestionType.SET, "What?", (Option("x"), Option("y")))
SPAN = Question(QuestionType.SPAN, "Where?", (Option("x"),))
ON_THE_WIRE = {
    "invalid_question",
    "invalid_input",
    "max_length_exceeded",
    "invalid_model_output",
    "deadline_exceeded",
    "unavailable",
}


def test_a_noul_has_no_confidence():
    """S1-11"""
    assert answer_json(NOUL, "q", NoulAnswer(0.25)) == {
        "answers": {"q": {"type": "noul", "noul": 0.25}}
    }


def test_a_choice_names_its_likeliest_option_and_ties_go_to_the_first():
    """S1-3"""
    (answer,) = answer_json(CHOICE, "q", ChoiceAnswer(("a", "b"), (0.5, 0.5)))["answers"].values()
    assert answer == {
        "type": "choice",
        "choice": "a",
        "probabilities": {"a": 0.5, "b": 0.5},
        "confidence": 0.0,
    }


def test_a_score_is_the_expected_level_with_its_legend():
    """S1-3"""
    (answer,) = answer_json(SCORE, "q", ScoreAnswer(("low", "high"), (0.25, 0.75)))[
        "answers"
    ].values()
    assert answer["score"] == 0.75
    assert answer["legend"] == {"0": "low", "1": "high"}
    assert answer["probabilities"] == {"0": 0.25, "1": 0.75}


@pytest.mark.parametrize(("threshold", "selected"), [(None, ["y"]), (0.2, ["x", "y"]), (0.9, [])])
def test_a_set_answers_a_noul_per_label_and_selects_at_the_threshold(threshold, selected):
    """S1-11, S1-5"""
    question = Question(SET.type, SET.instructions, SET.options, threshold=threshold)
    members = answer_json(question, "q", SetAnswer(("x", "y"), (0.3, 0.6)))
    assert members["answers"] == {
        "q.x": {"type": "noul", "noul": 0.3},
        "q.y": {"type": "noul", "noul": 0.6},
    }
    assert members["sets"] == {"q": {"selected": selected, "probabilities": {"x": 0.3, "y": 0.6}}}
    assert members.get("thresholds") == (None if threshold is None else {"q": threshold})


def test_a_span_answers_a_noul_and_its_spans():
    """S1-11"""
    spans = (Span("x", 0, 3, "abc", 0.4), Span("x", 5, 6, "d", 0.8))
    members = answer_json(SPAN, "q", SpanAnswer(spans))
    assert members["answers"] == {"q": {"type": "noul", "noul": 0.8}}
    assert members["spans"]["q"][0] == {
        "label": "x",
        "start": 0,
        "end": 3,
        "text": "abc",
        "probability": 0.4,
    }
    assert answer_json(SPAN, "q", SpanAnswer(()))["spans"] == {"q": []}


def test_the_questions_own_threshold_outweighs_the_models():
    """S1-5"""
    own = Question(QuestionType.NOUL, "Is it?", threshold=0.9)
    assert answer_json(own, "q", NoulAnswer(0.5), threshold=0.4)["thresholds"] == {"q": 0.9}
    assert answer_json(NOUL, "q", NoulAnswer(0.5), threshold=0.4)["thresholds"] == {"q": 0.4}


@pytest.mark.parametrize("error", list(AnswerError))
def test_an_error_stands_in_place_with_a_reason_of_the_wire(error):
    """S1-12"""
    answer = answer_json(CHOICE, "q", ErrorAnswer(error))["answers"]["q"]
    assert answer["type"] == "error"
    assert answer["error"] in ON_THE_WIRE
    assert answer["error"] == error.value or answer["error"] == "unavailable"
    assert answer["message"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (NOUL, NoulAnswer(math.nan)),
        (NOUL, NoulAnswer(1.5)),
        (NOUL, ChoiceAnswer(("a", "b"), (0.5, 0.5))),
        (CHOICE, ChoiceAnswer(("a", "b"), (math.inf, 0.0))),
        (CHOICE, ChoiceAnswer(("a",), (1.0,))),
        (SET, SetAnswer(("x", "y"), (0.1, -0.1))),
        (SPAN, SpanAnswer((Span("x", 0, 1, "a", math.nan),))),
    ],
)
def test_an_answer_that_is_none_is_invalid_model_output(question, answer):
    """S1-12"""
    assert answer_json(question, "q", answer)["answers"]["q"]["error"] == "invalid_model_output"


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_ids_and_keys_come_back_byte_for_byte(id, first, second):
    """S1-2"""
    if first == second:
        return
    question = Question(QuestionType.CHOICE, "", (Option(first), Option(second)))
    answer = answer_json(question, id, ChoiceAnswer((first, second), (0.1, 0.9)))["answers"][id]
    assert answer["choice"] == second
    assert list(answer["probabilities"]) == [first, second]
