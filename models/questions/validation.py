"""Whether an answer is one to its question (UNK-1): nothing is guessed from a malformed one."""

from __future__ import annotations

from typing import Final

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)

SUM_TOLERANCE: Final = 1e-3
"""How far probabilities of a distribution may be from 1 in sum: float32 over 255 options."""

ROUNDING: Final = 1e-6
"""How far one probability may stick out of 0 to 1: float32 again."""

_INVALID: Final = ErrorAnswer(AnswerError.INVALID_MODEL_OUTPUT, "the model's answer is malformed")


def validated(question: Question, answer: Answer | None) -> Answer:
    """``answer`` itself, or an ``ErrorAnswer`` where it is malformed or missing."""
    if isinstance(answer, ErrorAnswer):
        return answer
    try:
        return answer if answer is not None and _fits(question, answer) else _INVALID
    except (TypeError, ValueError):  # something other than numbers in their place
        return _INVALID


def _fits(question: Question, answer: Answer) -> bool:
    match answer:
        case NoulAnswer(probability):
            return question.type is QuestionType.NOUL and _probability(probability)
        case ChoiceAnswer(keys, probabilities):
            return (
                question.type is QuestionType.CHOICE
                and _named(question, keys)
                and _distribution(probabilities, len(keys))
                and 0 <= answer.winner < len(keys)
            )
        case ScoreAnswer(levels, probabilities):
            return (
                question.type is QuestionType.SCORE
                and len(levels) == len(question.options)
                and _distribution(probabilities, len(levels))
            )
        case SetAnswer(keys, probabilities):
            return (
                question.type is QuestionType.SET
                and _named(question, keys)
                and len(probabilities) == len(keys)
                and all(map(_probability, probabilities))
            )
        case SpanAnswer(spans):
            return question.type is QuestionType.SPAN and _spans(question, spans)
        case _:
            return False


def _probability(value: float) -> bool:
    return -ROUNDING <= value <= 1.0 + ROUNDING


def _distribution(probabilities: tuple[float, ...], count: int) -> bool:
    return (
        len(probabilities) == count
        and min(probabilities) >= -ROUNDING
        and abs(sum(probabilities) - 1.0) <= SUM_TOLERANCE
    )


def _named(question: Question, keys: tuple[str, ...]) -> bool:
    options = question.options
    return len(keys) == len(options) and all(
        key == option.key for key, option in zip(keys, options, strict=True)
    )


def _spans(question: Question, spans: tuple[Span, ...]) -> bool:
    if not spans:
        return True
    labels = {option.key for option in question.options}
    return all(
        span.label in labels and 0 <= span.start < span.end and _probability(span.probability)
        for span in spans
    )
