"""Answers beside truths, for tests of their figures. The id of a noul is ``q``, else the type."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count

from models.evaluation.judged import Judged
from models.evaluation.truth import Mark
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

_LINES = count(1)

NOUL = Question(QuestionType.NOUL, "Is it?")
CHOICE = Question(QuestionType.CHOICE, "Which?", (Option("a"), Option("b"), Option("c")))
SCORE = Question(QuestionType.SCORE, "How?", (Option("0", "x"), Option("1", "y"), Option("2", "z")))
SET = Question(QuestionType.SET, "Which?", (Option("a"), Option("b")))
SPAN = Question(QuestionType.SPAN, "Where?", (Option("GPE"), Option("PERSON")))


def noul(
    p: float,
    truth: bool,
    *,
    id: str = "q",
    cluster: Hashable = None,
    tags: tuple[str, ...] = (),
    threshold: float = 0.5,
) -> Judged:
    """``cluster``: its own unless given."""
    own = next(_LINES) if cluster is None else cluster
    return Judged(id, NOUL, truth, NoulAnswer(p), own, tags, threshold)


def choice(probabilities: Sequence[float], truth: str) -> Judged:
    answer = ChoiceAnswer(("a", "b", "c"), tuple(probabilities))
    return Judged("choice", CHOICE, truth, answer, next(_LINES))


def score(probabilities: Sequence[float], truth: int) -> Judged:
    answer = ScoreAnswer(("x", "y", "z"), tuple(probabilities))
    return Judged("score", SCORE, truth, answer, next(_LINES))


def labels(probabilities: Sequence[float], truth: Iterable[str], threshold: float = 0.5) -> Judged:
    answer = SetAnswer(("a", "b"), tuple(probabilities))
    return Judged("set", SET, frozenset(truth), answer, next(_LINES), (), threshold)


def spans(
    found: Iterable[tuple[str, int, int, float]], truth: Iterable[tuple[str, int, int]]
) -> Judged:
    answer = SpanAnswer(tuple(Span(label, s, e, "x" * (e - s), p) for label, s, e, p in found))
    marks = tuple(Mark(start, end, label) for label, start, end in truth)
    return Judged("span", SPAN, marks, answer, next(_LINES))


def error(id: str = "q", question: Question = NOUL, truth: bool = True) -> Judged:
    return Judged(id, question, truth, ErrorAnswer(AnswerError.UNAVAILABLE), next(_LINES))
