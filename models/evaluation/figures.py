"""The figures of each question type. All take answers that are no errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from models.evaluation.calibration import Claims, Ece
from models.evaluation.discrimination import Auc, f1, macro_f1
from models.evaluation.judged import Judged
from models.evaluation.spans import characters, exact, marks
from models.evaluation.statistic import MeanOf, Ratio, Statistic
from models.evaluation.truth import Mark
from models.questions.types import (
    ChoiceAnswer,
    NoulAnswer,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)

FIGURES: Final[Mapping[QuestionType, tuple[str, ...]]] = {
    QuestionType.NOUL: ("auc", "accuracy", "f1", "recall", "specificity", "ece"),
    QuestionType.CHOICE: ("accuracy", "macro_f1", "top1", "commonest_label", "ece"),
    QuestionType.SCORE: ("accuracy", "mae", "ece"),
    QuestionType.SET: ("f1", "mean_auc", "ece"),
    QuestionType.SPAN: ("precision", "recall", "f1", "char_f1", "ece"),
}
"""Besides ``answered``, of every type, and of a span ``f1.<label>`` for each label."""

LESS_IS_BETTER: Final = frozenset({"ece", "mae"})


def figures(kind: QuestionType, judged: Sequence[Judged]) -> dict[str, Statistic]:
    """Figure -> what computes it from the weights ``(..., n)`` of the n ``judged``, in order."""
    return {**_FIGURES[kind](judged), "ece": Ece(claims(kind, judged))}


def claims(kind: QuestionType, judged: Sequence[Judged]) -> Claims:
    """What is claimed with a probability: by a noul yes, by a choice and a score that the likeliest
    is true, by a set each label, by a span answer each of its spans."""
    return _CLAIMS[kind](judged)


def _nouls(judged: Sequence[Judged]) -> tuple[Any, Any]:
    """P(yes) and truth, ``(n,)`` each."""
    p = [j.answer.probability for j in judged if isinstance(j.answer, NoulAnswer)]
    return np.array(p, dtype=np.float64), np.array([j.truth for j in judged], dtype=bool)


def _noul(judged: Sequence[Judged]) -> dict[str, Statistic]:
    """Yes is a probability at the threshold or above."""
    p, truth = _nouls(judged)
    yes = p >= np.array([j.threshold for j in judged])
    return {
        "auc": Auc(p, truth),
        "accuracy": Ratio.share(yes == truth),
        "f1": f1(yes, truth, yes & truth),
        "recall": Ratio.share(yes, among=truth),
        "specificity": Ratio.share(~yes, among=~truth),
    }


def _noul_claims(judged: Sequence[Judged]) -> Claims:
    return Claims.of(*_nouls(judged))


def _choice(judged: Sequence[Judged]) -> dict[str, Statistic]:
    """``top1``: the truth has the greatest probability; of k that share it, one in k. ``accuracy``
    is of the option the model names, which may be one of several equal ones."""
    chosen = np.array([j.answer.choice for j in judged if isinstance(j.answer, ChoiceAnswer)])
    truth = np.array([str(j.truth) for j in judged])
    labels, counts = np.unique(truth, return_counts=True)
    return {
        "accuracy": Ratio.share(chosen == truth),
        "macro_f1": macro_f1(chosen, truth),
        "top1": Ratio.share(
            [_top1(j.answer, str(j.truth)) for j in judged if isinstance(j.answer, ChoiceAnswer)]
        ),
        "commonest_label": Ratio.share(truth == labels[counts.argmax()]),
    }


def _top1(answer: ChoiceAnswer, truth: str) -> float:
    best = max(answer.probabilities)
    tied = [k for k, p in zip(answer.keys, answer.probabilities, strict=True) if p == best]
    return 1 / len(tied) if truth in tied else 0.0


def _choice_claims(judged: Sequence[Judged]) -> Claims:
    answers = [(j.answer, j.truth) for j in judged if isinstance(j.answer, ChoiceAnswer)]
    return Claims.of(
        [a.probabilities[a.winner] for a, _ in answers], [a.choice == t for a, t in answers]
    )


def _scores(judged: Sequence[Judged]) -> list[tuple[ScoreAnswer, int, int]]:
    """Answer, its likeliest level (the lowest of equal ones), true level."""
    return [
        (j.answer, j.answer.probabilities.index(max(j.answer.probabilities)), int(j.truth))
        for j in judged
        if isinstance(j.answer, ScoreAnswer) and isinstance(j.truth, int)
    ]


def _score(judged: Sequence[Judged]) -> dict[str, Statistic]:
    """``mae``: mean ``|expected level - true level|``, in levels."""
    scores = _scores(judged)
    distance = np.array([abs(answer.score - truth) for answer, _, truth in scores])
    return {
        "accuracy": Ratio.share([level == truth for _, level, truth in scores]),
        "mae": Ratio(distance, np.ones_like(distance)),
    }


def _score_claims(judged: Sequence[Judged]) -> Claims:
    scores = _scores(judged)
    return Claims.of(
        [max(answer.probabilities) for answer, _, _ in scores],
        [level == truth for _, level, truth in scores],
    )


_Label: TypeAlias = tuple[int, str, float, bool]
"""Index of the answer, label, probability, whether it is true."""


def _labels(judged: Sequence[Judged]) -> list[_Label]:
    return [
        (index, key, p, isinstance(j.truth, frozenset) and key in j.truth)
        for index, j in enumerate(judged)
        if isinstance(j.answer, SetAnswer)
        for key, p in zip(j.answer.keys, j.answer.probabilities, strict=True)
    ]


def _set(judged: Sequence[Judged]) -> dict[str, Statistic]:
    """``f1`` is micro. ``mean_auc`` is over labels that are true of some states and false of
    others."""
    labels = _labels(judged)
    counts = np.zeros((3, len(judged)))  # selected, true, both
    by_label: dict[str, list[_Label]] = {}
    for label in labels:
        index, key, p, true = label
        selected = p >= judged[index].threshold
        counts[:, index] += (selected, true, selected and true)
        by_label.setdefault(key, []).append(label)
    aucs = [
        Auc([p for _, _, p, _ in of], [true for *_, true in of], [index for index, *_ in of])
        for of in by_label.values()
    ]
    return {"f1": f1(*counts), "mean_auc": MeanOf(aucs)}


def _set_claims(judged: Sequence[Judged]) -> Claims:
    labels = _labels(judged)
    return Claims.of(
        [p for _, _, p, _ in labels], [true for *_, true in labels], [index for index, *_ in labels]
    )


def _spans(judged: Sequence[Judged]) -> list[tuple[dict[Mark, float], tuple[Mark, ...]]]:
    """Found spans with their probabilities, and true ones."""
    return [
        (marks(j.answer.spans), j.truth)
        for j in judged
        if isinstance(j.answer, SpanAnswer) and isinstance(j.truth, tuple)
    ]


def _span(judged: Sequence[Judged]) -> dict[str, Statistic]:
    """Exact spans, summed over answers; ``char_f1`` counts characters with their labels."""
    spans = _spans(judged)
    labels = dict.fromkeys(option.key for j in judged for option in j.question.options)

    def counted(label: str | None = None) -> tuple[Any, Any, Any]:
        counts = [exact(found, true, label) for found, true in spans]
        rows = [(c.found, c.true, c.right) for c in counts]
        found, true, right = np.array(rows, dtype=np.float64).T
        return found, true, right

    found, true, right = counted()
    covered = [characters(f, t) for f, t in spans]
    return {
        "precision": Ratio(right, found),
        "recall": Ratio(right, true),
        "f1": f1(found, true, right),
        "char_f1": f1(
            [c.found for c in covered], [c.true for c in covered], [c.right for c in covered]
        ),
        **{f"f1.{label}": f1(*counted(label)) for label in labels},
    }


def _span_claims(judged: Sequence[Judged]) -> Claims:
    found = [
        (index, p, mark in true)
        for index, (marked, true) in enumerate(_spans(judged))
        for mark, p in marked.items()
    ]
    return Claims.of([p for _, p, _ in found], [r for *_, r in found], [i for i, *_ in found])


_FIGURES: Final[Mapping[QuestionType, Callable[[Sequence[Judged]], dict[str, Statistic]]]] = {
    QuestionType.NOUL: _noul,
    QuestionType.CHOICE: _choice,
    QuestionType.SCORE: _score,
    QuestionType.SET: _set,
    QuestionType.SPAN: _span,
}
_CLAIMS: Final[Mapping[QuestionType, Callable[[Sequence[Judged]], Claims]]] = {
    QuestionType.NOUL: _noul_claims,
    QuestionType.CHOICE: _choice_claims,
    QuestionType.SCORE: _score_claims,
    QuestionType.SET: _set_claims,
    QuestionType.SPAN: _span_claims,
}
