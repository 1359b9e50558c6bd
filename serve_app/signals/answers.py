"""Answers as readings: numbers in the order of the question's options (UNK-1)."""

from __future__ import annotations

from typing import assert_never

from models.questions.types import (
    Answer,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Question,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)
from serve_app.reading import Reading


def reading_of(question: Question, answer: Answer) -> Reading:
    """The numbers of an answer that was checked against ``question``, or why there are none."""
    match answer:
        case NoulAnswer(probability):
            return Reading((probability,))
        case ChoiceAnswer(_, probabilities):
            return Reading(probabilities, answer.winner)
        case ScoreAnswer():
            return Reading((answer.score,))
        case SetAnswer(_, probabilities):
            return Reading(probabilities)
        case SpanAnswer(spans):
            best = dict.fromkeys((option.key for option in question.options), 0.0)
            for span in spans:
                best[span.label] = max(best[span.label], span.probability)
            return Reading(tuple(best.values()))
        case ErrorAnswer(error):
            return Reading(reason=error)
        case _:
            assert_never(answer)
