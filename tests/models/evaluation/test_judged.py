"""Answers beside truths: SRV-19, UNK-1."""

from __future__ import annotations

import json
from dataclasses import replace

from models.evaluation.judged import judge, threshold_of
from models.evaluation.truth import Example, read_examples
from models.questions.presets import preset_question
from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer, Question, QuestionType


def example(**beside: object) -> Example:
    questions = {
        "a": {"preset": "jailbreak", "label": True},
        "b": {"preset": "harm", "label": False},
    }
    return read_examples([json.dumps({"state": "x", "questions": questions, **beside})])[0]


def test_a_question_without_a_right_answer_has_an_error() -> None:
    """Missing, of another type or no probability: never guessed."""
    first, second = judge(example(), {"a": NoulAnswer(1.5)})
    for one in (first, second):
        assert isinstance(one.answer, ErrorAnswer)
        assert one.answer.error is AnswerError.INVALID_MODEL_OUTPUT
        assert one.unknown


def test_examples_of_a_group_are_a_cluster_and_others_their_own() -> None:
    """A group's name is not taken for a line's number."""
    grouped = judge(example(group=1), {})[0].cluster
    assert grouped == judge(example(group="1"), {})[1].cluster
    assert grouped != judge(example(), {})[0].cluster


def test_the_calibrated_threshold_is_that_of_the_preset() -> None:
    """S1-14"""
    calibrated = {"jailbreak": 0.3}
    preset = preset_question("jailbreak")
    own = Question(QuestionType.NOUL, "Is it?", threshold=0.7)
    assert threshold_of(preset, calibrated) == 0.3
    assert threshold_of(own, calibrated) == 0.7
    assert threshold_of(replace(preset, threshold=0.6), calibrated) == 0.6
    assert threshold_of(preset_question("harm"), calibrated) == 0.5
    assert [one.threshold for one in judge(example(), {}, calibrated)] == [0.3, 0.5]
