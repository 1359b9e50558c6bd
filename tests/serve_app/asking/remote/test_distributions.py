"""The choice or score that a remote answers: S1-3, UNK-1."""

from __future__ import annotations

import math

import pytest

from models.questions.types import (
    ChoiceAnswer,
    Option,
    Question,
    QuestionType,
    ScoreAnswer,
)
from models.questions.validation import validated
from serve_app.asking.remote.answers import MALFORMED
from serve_app.reading import reading_of
from tests.doubles.remote_answers import (
    A_CHOICE,
    A_SCORE,
    CHOICE,
    SCORE,
    answer,
    without,
)


@pytest.mark.parametrize(
    "changed",
    [
        {"probabilities": {"a": 0.5, "B": 0.5}},
        {"probabilities": {"a": 0.25, "B": 0.5, "c": 0.25, "d": 0.0}},
        {"probabilities": {"a": 0.25, "b": 0.5, "c": 0.25}},
        {"probabilities": {"a": 0.25, "B": 0.52, "c": 0.25}},
        {"probabilities": {"a": 0.25, "B": 0.5, "c": 0.22}},
        {"probabilities": {"a": 0.0, "B": 0.0, "c": 0.0}},
        {"probabilities": [0.25, 0.5, 0.25]},
        {"probabilities": None},
        {"choice": "a"},
        {"choice": "b"},
        {"choice": None},
        {"choice": ["B"]},
        {"choice": 1},
    ],
    ids=str,
)
def test_a_choice_that_contradicts_its_question_or_itself_is_malformed(changed):
    """S1-3, UNK-1"""
    assert answer(CHOICE, A_CHOICE | changed) == MALFORMED


@pytest.mark.parametrize("chosen", ["a", "B"])
@pytest.mark.parametrize("shares", [(0.4, 0.4), (0.399, 0.401), (0.401, 0.399)])
def test_of_options_that_rounding_cannot_tell_apart_the_choice_is_the_models_own(chosen, shares):
    """S1-3, UNK-1: it knows which was more likely"""
    a, b = shares
    raw = A_CHOICE | {"choice": chosen, "probabilities": {"a": a, "B": b, "c": 0.2}}
    read_back = answer(CHOICE, raw)
    assert isinstance(read_back, ChoiceAnswer)
    assert read_back.choice == chosen
    assert validated(CHOICE, read_back) is read_back
    assert reading_of(CHOICE, read_back).winner == ["a", "B"].index(chosen)


def test_a_rounded_distribution_is_scaled_to_one():
    """S1-3: within the rounding of 0.005 an option, at least 0.01 and at most 0.05."""
    raw = A_CHOICE | {"probabilities": {"a": 0.33, "B": 0.33, "c": 0.33}}
    read_back = answer(CHOICE, raw)
    assert isinstance(read_back, ChoiceAnswer)
    assert sum(read_back.probabilities) == pytest.approx(1)
    assert validated(CHOICE, read_back) is read_back
    for n, off in ((2, 0.01), (6, 0.03), (40, 0.05)):
        question = Question(QuestionType.CHOICE, "", tuple(Option(str(i)) for i in range(n)))
        for by, fits in ((off - 1e-6, True), (off + 1e-6, False)):
            probabilities = dict.fromkeys(map(str, range(n)), 0.0) | {"0": 0.5, "1": 0.5 - by}
            raw = {"type": "choice", "choice": "0", "probabilities": probabilities}
            assert isinstance(answer(question, raw), ChoiceAnswer) == fits


@pytest.mark.parametrize(
    "changed",
    [
        {"legend": None},
        {"legend": ["x", "y", "z"]},
        {"legend": {"1": "x", "2": "y", "3": "z"}},
        {"legend": {"0": "x", "1": "y"}},
        {"legend": {"0": "x", "1": "y", "2": "z", "3": "w"}},
        {"legend": {"0": "x", "1": "y", "2": "Z"}},
        {"legend": {"0": "x", "1": "y", "2": None}},
        {"legend": {"0": "z", "1": "y", "2": "x"}},
        {"probabilities": {"1": 0.25, "2": 0.25, "3": 0.5}},
        {"probabilities": {"0": 0.5, "1": 0.5}},
        {"probabilities": {"0": 0.2, "1": 0.2, "2": 0.4}},
        {"probabilities": {"x": 0.25, "y": 0.25, "z": 0.5}},
        {"score": 2.0},
        {"score": 1.3},
        {"score": 3.25},
        {"score": -1.25},
        {"score": None},
        {"score": "1.25"},
        {"score": True},
        {"score": math.nan},
        {"score": 10**400},
    ],
    ids=str,
)
def test_a_score_that_contradicts_its_question_or_itself_is_malformed(changed):
    """S1-3, UNK-1"""
    assert answer(SCORE, A_SCORE | changed) == MALFORMED


@pytest.mark.parametrize("name", ["legend", "probabilities", "score"])
def test_a_score_without_one_of_its_members_is_malformed(name):
    """S1-3"""
    assert answer(SCORE, without(A_SCORE, name)) == MALFORMED


def test_a_score_may_be_as_far_off_as_the_rounding_of_its_probabilities():
    """S1-3: 0.02, and of probabilities rounded to two decimals 0.005 (1 + 3) more."""
    assert isinstance(answer(SCORE, A_SCORE | {"score": 1.289}), ScoreAnswer)
    exact = {"0": 0.2512345678, "1": 0.2487654322, "2": 0.5}
    expected = 0.2487654322 + 1
    for by, fits in ((0.019, True), (0.021, False)):
        raw = A_SCORE | {"score": expected + by, "probabilities": exact}
        assert isinstance(answer(SCORE, raw), ScoreAnswer) == fits


def test_a_legend_may_hold_the_structure_a_level_was_rendered_from():
    """S1-1"""
    levels = (Option("0", "kind: a\nsize: 1"), Option("1", "y"))
    question = Question(QuestionType.SCORE, "How?", levels)
    raw = {
        "type": "score",
        "score": 0.5,
        "legend": {"0": {"kind": "a", "size": 1}, "1": "y"},
        "probabilities": {"0": 0.5, "1": 0.5},
    }
    assert answer(question, raw) == ScoreAnswer(("kind: a\nsize: 1", "y"), (0.5, 0.5))
    raw["legend"] = {"0": {"kind": "a", "size": 2}, "1": "y"}
    assert answer(question, raw) == MALFORMED
