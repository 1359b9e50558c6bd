"""Answers as the JSON of a System One response (S1-3, S1-11, S1-12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

from models.questions.confidence import choice_confidence, score_confidence
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
    SpanAnswer,
)

SELECTED: Final = 0.5
"""Probability at which a label of a set is selected where nothing else says so."""

_ON_THE_WIRE: Final = frozenset(
    {
        AnswerError.INVALID_QUESTION,
        AnswerError.INVALID_INPUT,
        AnswerError.MAX_LENGTH_EXCEEDED,
        AnswerError.INVALID_MODEL_OUTPUT,
        AnswerError.DEADLINE_EXCEEDED,
        AnswerError.UNAVAILABLE,
    }
)
_MESSAGES: Final = {
    AnswerError.INVALID_QUESTION: "the question cannot be asked",
    AnswerError.INVALID_INPUT: "the model cannot read the state",
    AnswerError.MAX_LENGTH_EXCEEDED: "the state is longer than the model reads",
    AnswerError.INVALID_MODEL_OUTPUT: "the model gave no valid answer",
    AnswerError.DEADLINE_EXCEEDED: "the answer was not ready in time",
    AnswerError.UNAVAILABLE: "the model is not available",
}
_TYPE_OF: Final = {
    NoulAnswer: QuestionType.NOUL,
    ChoiceAnswer: QuestionType.CHOICE,
    ScoreAnswer: QuestionType.SCORE,
    SetAnswer: QuestionType.SET,
    SpanAnswer: QuestionType.SPAN,
}


@dataclass(slots=True)
class Members:
    """What answers give to a response: its members of these names."""

    answers: dict[str, Any] = field(default_factory=dict)
    sets: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, Any] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)

    def add(
        self, question: Question, id: str, answer: Answer, threshold: float | None = None
    ) -> None:
        """Writes ``answer`` under ``id``.

        ``threshold`` is the model's calibrated one, which the question's own outweighs. An
        answer that is none for this question, or is not finite, is ``invalid_model_output``.
        """
        if isinstance(answer, ErrorAnswer):
            self.answers[id] = error_json(answer)
            return
        if not _fits(question, answer):
            self.answers[id] = error_json(ErrorAnswer(AnswerError.INVALID_MODEL_OUTPUT))
            return
        if question.threshold is not None:
            threshold = question.threshold
        if threshold is not None:
            self.thresholds[id] = threshold
        if isinstance(answer, SetAnswer):
            self._add_set(id, answer, SELECTED if threshold is None else threshold)
        elif isinstance(answer, SpanAnswer):
            self.answers[id] = _noul(answer.probability)
            self.spans[id] = [
                {
                    "label": span.label,
                    "start": span.start,
                    "end": span.end,
                    "text": span.text,
                    "probability": span.probability,
                }
                for span in answer.spans
            ]
        else:
            self.answers[id] = _plain(answer)

    def _add_set(self, id: str, answer: SetAnswer, threshold: float) -> None:
        probabilities = dict(zip(answer.keys, answer.probabilities, strict=True))
        for label, probability in probabilities.items():
            self.answers[set_id(id, label)] = _noul(probability)
        self.sets[id] = {
            "selected": [label for label, p in probabilities.items() if p >= threshold],
            "probabilities": probabilities,
        }

    def json(self) -> dict[str, Any]:
        """``answers``, and of the others those that have members."""
        members: dict[str, Any] = {"answers": self.answers}
        if self.sets:
            members["sets"] = self.sets
        if self.spans:
            members["spans"] = self.spans
        if self.thresholds:
            members["thresholds"] = self.thresholds
        return members


def answer_json(
    question: Question, id: str, answer: Answer, threshold: float | None = None
) -> dict[str, Any]:
    """The members of a response that one answer gives; see ``Members.add``."""
    members = Members()
    members.add(question, id, answer, threshold)
    return members.json()


def error_json(answer: ErrorAnswer) -> dict[str, Any]:
    """An error in the place of an answer; a reason that is not on the wire is ``unavailable``."""
    error = answer.error if answer.error in _ON_THE_WIRE else AnswerError.UNAVAILABLE
    return {
        "type": "error",
        "error": error.value,
        "message": answer.message or _MESSAGES[error],
    }


def set_id(id: str, label: str) -> str:
    """The id under which a set answers one of its labels."""
    return f"{id}.{label}"


def _noul(probability: float) -> dict[str, Any]:
    return {"type": "noul", "noul": probability}


def _plain(answer: NoulAnswer | ChoiceAnswer | ScoreAnswer) -> dict[str, Any]:
    if isinstance(answer, NoulAnswer):
        return _noul(answer.probability)
    if isinstance(answer, ChoiceAnswer):
        return {
            "type": "choice",
            "choice": answer.choice,
            "probabilities": dict(zip(answer.keys, answer.probabilities, strict=True)),
            "confidence": choice_confidence(answer.probabilities),
        }
    numbers = [str(i) for i in range(len(answer.levels))]
    return {
        "type": "score",
        "score": answer.score,
        "legend": dict(zip(numbers, answer.levels, strict=True)),
        "probabilities": dict(zip(numbers, answer.probabilities, strict=True)),
        "confidence": score_confidence(answer.probabilities),
    }


def _fits(question: Question, answer: Answer) -> bool:
    if _TYPE_OF.get(type(answer)) is not question.type:
        return False
    if isinstance(answer, NoulAnswer):
        return _unit((answer.probability,))
    if isinstance(answer, SpanAnswer):
        return _unit(span.probability for span in answer.spans)
    if isinstance(answer, (ChoiceAnswer, SetAnswer, ScoreAnswer)):
        count = len(question.options)
        return len(answer.probabilities) == count and _unit(answer.probabilities)
    return False


def _unit(probabilities: Iterable[float]) -> bool:
    return all(isfinite(p) and 0 <= p <= 1 for p in probabilities)
