"""Answers about one state stand under ids of their own (S1-12, SIG-6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.cards.schema import Card
from models.questions.parse import QuestionError
from models.questions.types import Question, QuestionType
from models.questions.wire import set_id
from serve_app.config.checks.review import Review
from serve_app.config.questions import asked_in_both_forms, question_id, question_of
from serve_app.config.schema.document import Recipe
from serve_app.config.schema.signals import SECTIONS, Input, ModelRule, SystemOneRule
from serve_app.config.tree import Loc


@dataclass(frozen=True, slots=True)
class _Asked:
    """A rule, which stands at ``loc``, with its question, its id and the card of who is asked."""

    loc: Loc
    rule: ModelRule
    id: str
    question: Question
    card: Card

    @property
    def called(self) -> str:
        return f"the {self.rule.type} rule {self.rule.name}"

    def answers(self) -> Iterator[tuple[str, str | None]]:
        """The ids of its answers: the question's, and a set's labels' with their label."""
        yield self.id, None
        if self.question.type is QuestionType.SET:
            for option in self.question.options:
                yield set_id(self.id, option.key), option.key


def check_question_ids(review: Review) -> None:
    for index, recipe in enumerate(review.config.recipes):
        together: dict[tuple[str, tuple[bool, ...]], list[_Asked]] = defaultdict(list)
        for asked in _asked(review, ("recipes", index, "signals"), recipe):
            rule = asked.rule
            together[rule.deployment or review.system, _contents(rule.reads)].append(asked)
        for group in together.values():
            _check(review, group)


def _asked(review: Review, signals: Loc, recipe: Recipe) -> Iterator[_Asked]:
    """Rules that ask a deployment that is known a question that can be asked."""
    rules = [
        ((*signals, section, index), rule)
        for section in SECTIONS
        for index, rule in enumerate(getattr(recipe.signals, section))
        if isinstance(rule, ModelRule)
    ]
    both_forms = asked_in_both_forms([rule for _, rule in rules], review.system)
    for loc, rule in rules:
        deployment = rule.deployment or review.system
        card = review.card(deployment)
        if card is None:
            continue
        try:
            question = question_of(rule)
        except QuestionError:  # reported at the question
            continue
        both = (deployment, rule.preset) in both_forms
        id = question_id(rule, question, card.trained_ids, both)
        yield _Asked(loc, rule, id, question, card)


def _contents(reads: Input) -> tuple[bool, ...]:
    """Equal for states that may be equal: early in a conversation, any numbers of previous turns
    are the same turns, and equal states are asked about together."""
    return reads.history, reads.previous_turns > 0, reads.tool_results, reads.images


def _check(review: Review, group: Sequence[_Asked]) -> None:
    """One error for two rules. Those that ask one question under one id are no mistake (SIG-5)."""
    taken: dict[str, tuple[_Asked, str | None]] = {}
    questions: dict[tuple[str, Question], _Asked] = {}
    for asked in group:
        if questions.setdefault((asked.id, asked.question), asked) is not asked:
            continue
        reported: set[Loc] = set()
        for id, label in asked.answers():
            first, its_label = taken.setdefault(id, (asked, label))
            if _same_rule(first, asked) or first.loc in reported:
                continue
            reported.add(first.loc)
            where = f"{_part(first, its_label)} on line {review.node(first.loc).line}"
            review.error(
                (*asked.loc, "name"),
                f"{_part(asked, label)} and {where} would be answered under one id, {id}: "
                f"{_remedy(asked, label, first, its_label)}",
            )


def _same_rule(a: _Asked, b: _Asked) -> bool:
    """A second rule of the same name is reported as that."""
    return (a.rule.type, a.rule.name) == (b.rule.type, b.rule.name)


def _part(asked: _Asked, label: str | None) -> str:
    return asked.called if label is None else f"label {label} of {asked.called}"


def _remedy(a: _Asked, a_label: str | None, b: _Asked, b_label: str | None) -> str:
    """Presets and their labels have the names that they have."""
    own = [
        part
        for asked, label in ((a, a_label), (b, b_label))
        if isinstance(asked.rule, SystemOneRule)
        for part in (asked.called, None if label is None else f"its label {label}")
        if part is not None
    ]
    if own:
        return f"rename {' or '.join(own)}"
    return f"that is how {a.card.name}'s card names them, so ask one of another deployment"
