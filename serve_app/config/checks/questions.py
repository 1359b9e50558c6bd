"""Rules that ask a model: the question can be asked, of that model, about that input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from models.cards.schema import Card
from models.questions.parse import QuestionError
from models.questions.types import Question, QuestionType
from serve_app.config.checks.names import unique
from serve_app.config.checks.predicates import PROBABILITY, check_predicate
from serve_app.config.checks.review import Review
from serve_app.config.questions import question_of
from serve_app.config.schema.document import Recipe
from serve_app.config.schema.signals import (
    SECTIONS,
    ComplexityRule,
    GuardRule,
    LabelRule,
    ModalityRule,
    ModelRule,
    PiiRule,
    Rule,
    SafetyRule,
    SystemOneRule,
)
from serve_app.config.tree import Loc

_LABELLED: Final = (QuestionType.CHOICE, QuestionType.SET)


def condition_labels(rule: Rule) -> tuple[str, ...]:
    """The labels that a condition on ``rule`` may name; none where it takes no label."""
    if not isinstance(rule, ModelRule):
        return ()
    try:
        question = question_of(rule)
    except QuestionError:
        return ()
    if question.type not in (*_LABELLED, QuestionType.SPAN):
        return ()
    options = tuple(option.key for option in question.options)
    labels = getattr(rule, "labels", None)
    if labels is None:
        return options
    mistaken = [label for label in labels if label not in options]  # reported at the rule
    return (*options, *mistaken) if mistaken else tuple(labels)


def needs_label(rule: Rule) -> bool:
    """Whether a condition on ``rule`` has to say which option it is about (CFG-4)."""
    if isinstance(rule, (ComplexityRule, ModalityRule)):
        return True
    if not isinstance(rule, SystemOneRule):
        return False
    try:
        return question_of(rule).type in _LABELLED
    except QuestionError:
        return False


def predicate_values(rule: ModelRule) -> tuple[float, float] | None:
    """The least and the greatest value that a predicate of ``rule`` meets (CFG-4): a score's
    expected level, else a probability; ``None`` if the question cannot be asked.
    """
    try:
        question = question_of(rule)
    except QuestionError:
        return None
    if question.type is QuestionType.SCORE:
        return 0.0, float(len(question.options) - 1)
    return PROBABILITY


def check_questions(review: Review) -> None:
    for index, recipe in enumerate(review.config.recipes):
        _check_recipe(review, ("recipes", index, "signals"), recipe)


def _check_recipe(review: Review, signals: Loc, recipe: Recipe) -> None:
    for section in SECTIONS:
        for index, rule in enumerate(getattr(recipe.signals, section)):
            if isinstance(rule, ModelRule):
                _check_rule(review, (*signals, section, index), rule)


def _check_rule(review: Review, loc: Loc, rule: ModelRule) -> None:
    card = review.asked_card((*loc, "deployment"), rule.deployment)
    try:
        question = question_of(rule)
    except QuestionError as error:
        _report(review, (*loc, "question"), error)
        return
    if isinstance(rule, (LabelRule, PiiRule, SafetyRule)) and rule.labels is not None:
        _check_labels(review, (*loc, "labels"), rule.labels, question)
    if rule.predicate is not None:
        check_predicate(
            review,
            (*loc, "predicate"),
            rule.predicate,
            predicate_values(rule) or PROBABILITY,
            guard=isinstance(rule, GuardRule),
        )
    elif question.type is QuestionType.SCORE and review.whole((*loc, "predicate")):
        review.error(loc, "a score needs a predicate on its expected level", shown=False)
    if card is not None:
        _check_card(review, loc, rule, question, card)


def _check_labels(review: Review, loc: Loc, labels: Sequence[str], question: Question) -> None:
    known = [option.key for option in question.options]
    for index, label in enumerate(labels):
        if label not in known:
            review.error((*loc, index), "the question has no such label", name=label, allowed=known)
    unique(review, "label", [((*loc, index), label) for index, label in enumerate(labels)])


def _check_card(review: Review, loc: Loc, rule: ModelRule, question: Question, card: Card) -> None:
    if question.type not in card.question_types:
        able = sorted(card.question_types)
        review.error(
            loc,
            f"asks a {question.type} question, which {card.name} does not answer: name a "
            "deployment that does, or remove the rule",
            allowed=able,
            shown=False,
        )
    if rule.reads.images and "image" not in card.modalities:
        review.error(
            (*loc, "input", "images"),
            f"{card.name} reads {' and '.join(sorted(card.modalities))} only",
        )


def _report(review: Review, loc: Loc, error: QuestionError) -> None:
    if error.allowed:
        key = error.path[-1:] == (error.value,)
        review.error(
            (*loc, *error.path),
            "unknown key" if key else "is not one of the known values",
            name=error.value,
            allowed=error.allowed,
        )
    else:
        review.error((*loc, *error.path), error.message)
