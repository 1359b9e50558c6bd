"""When the answer to a rule's question matches: the table of CFG-4."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from models.cards.schema import Card
from models.questions.presets import calibrated_threshold
from models.questions.types import Question, QuestionType
from serve_app.config.schema.predicate import Predicate
from serve_app.config.schema.signals import (
    ComplexityRule,
    GuardRule,
    ModalityRule,
    ModelRule,
    SystemOneRule,
)
from serve_app.reading import Bounds, Criterion

DEFAULT_THRESHOLD: Final = 0.5
"""Without a predicate and without a calibrated threshold (CFG-5)."""

_WINNING_IS_ENOUGH: Final = (ComplexityRule, ModalityRule, SystemOneRule)
_WITH_OPTIONS: Final = (QuestionType.CHOICE, QuestionType.SET, QuestionType.SPAN)


def criterion_of(
    rule: ModelRule,
    question: Question,
    card: Card,
    label: str | None = None,
    predicate: Predicate | None = None,
) -> Criterion:
    """When the answer matches: the rule itself, or a condition's own ``label``, ``predicate``. A
    guard without a predicate judges windows by the card's threshold for them (SCAN-4).
    """
    choice = question.type is QuestionType.CHOICE
    written = predicate or rule.predicate
    of_windows: Bounds | None = None
    if written is not None:
        bounds: Bounds | None = Bounds.of(written)
    elif choice and isinstance(rule, _WINNING_IS_ENOUGH):
        bounds = None
    else:
        bounds = Bounds.make(gte=_threshold(rule, question, card))
        window = calibrated_threshold(question, card.window_thresholds)
        if window is not None and isinstance(rule, GuardRule):
            of_windows = Bounds.make(gte=window)
    return Criterion(_options(rule, question, label), bounds, choice, of_windows)


def _threshold(rule: ModelRule, question: Question, card: Card) -> float:
    if question.threshold is not None:
        return question.threshold
    calibrated = calibrated_threshold(question, card.thresholds)
    return DEFAULT_THRESHOLD if calibrated is None else calibrated


def _options(rule: ModelRule, question: Question, label: str | None) -> tuple[int, ...]:
    if question.type not in _WITH_OPTIONS:
        return (0,)
    keys = [option.key for option in question.options]
    wanted: Iterable[str] = [label] if label is not None else getattr(rule, "labels", None) or keys
    return tuple(sorted({keys.index(key) for key in wanted}))
