"""An answer beside the truth."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from models.evaluation.truth import Example, Truth
from models.questions.presets import calibrated_threshold
from models.questions.types import Answer, ErrorAnswer, Question
from models.questions.validation import validated
from models.questions.wire import SELECTED

_NO_THRESHOLDS: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True)
class Judged:
    """``answer`` is one to its ``question``, or an error. ``threshold``: the probability from
    which a noul means yes and a label of a set is selected. What shares a ``cluster`` is not
    independent and is resampled together.
    """

    id: str
    question: Question
    truth: Truth
    answer: Answer
    cluster: Hashable
    tags: tuple[str, ...] = ()
    threshold: float = SELECTED

    @property
    def unknown(self) -> bool:
        return isinstance(self.answer, ErrorAnswer)


def judge(
    example: Example,
    answers: Mapping[str, Answer],
    thresholds: Mapping[str, float] = _NO_THRESHOLDS,
) -> list[Judged]:
    """The example's questions with their ``answers``, by id; one that is missing, or is none to
    its question, is ``invalid_model_output``. ``thresholds``: the model's calibrated ones, by
    preset.

    Without a group an example is a cluster of its own.
    """
    group = example.group
    cluster = ("line", example.line) if group is None else ("group", group)
    return [
        Judged(
            id,
            labelled.question,
            labelled.truth,
            validated(labelled.question, answers.get(id)),
            cluster,
            example.tags,
            threshold_of(labelled.question, thresholds),
        )
        for id, labelled in example.questions.items()
    ]


def threshold_of(question: Question, thresholds: Mapping[str, float]) -> float:
    """The question's own, else the model's calibrated one for its preset, else 0.5."""
    if question.threshold is not None:
        return question.threshold
    calibrated = calibrated_threshold(question, thresholds)
    return SELECTED if calibrated is None else calibrated
