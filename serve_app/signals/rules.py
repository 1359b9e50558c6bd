"""The rules a recipe reads, made ready once per configuration (SIG-1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from models.cards.schema import Card
from models.questions.types import Question, QuestionType
from serve_app.config.questions import asked_in_both_forms, question_id, question_of
from serve_app.config.schema.signals import (
    FailClosedRule,
    GuardRule,
    MetadataRule,
    ModelRule,
    Rule,
    Signals,
    SystemOneRule,
    TurnRelationRule,
    UserFeedbackRule,
)
from serve_app.outcome import Truth
from serve_app.reading import Criterion
from serve_app.scan.rule import ScannedRule
from serve_app.signals.measured import MeasuredRule, ModelFree, measured, metadata_key
from serve_app.signals.questions import criterion_of
from serve_app.signals.states import Reads, StateKind

RuleKey = tuple[str, str]
"""A rule's type and name: what conditions call it by."""

_ABOUT_A_TURN: Final = (TurnRelationRule, UserFeedbackRule)


@dataclass(frozen=True, slots=True)
class AskedRule:
    """A rule with a model behind it.

    ``on_unknown``: what the rule counts as without an answer, ``None`` where it stays unknown
    (UNK-3, UNK-4). ``about_a_turn``: false, and not asked, without an earlier turn (SIG-2).
    ``timeout_s``: how long it waits from the call's start, ``None`` until the signal deadline
    (BUD-3). ``choices``: a choice's options. ``viewed``: it need not read all of a long message
    (VIEW-1).
    """

    type: str
    name: str
    deployment: str
    id: str
    question: Question
    state: StateKind
    criterion: Criterion
    timeout_s: float | None
    on_unknown: Truth | None
    about_a_turn: bool
    labelled: bool
    choices: tuple[str, ...]
    viewed: bool


ReadyRule = AskedRule | MeasuredRule


def ready_rules(
    signals: Signals,
    read: Collection[RuleKey],
    system: str,
    cards: Mapping[str, Card],
    bounds_s: Mapping[str, float],
) -> tuple[ReadyRule, ...]:
    """The rules named in ``read``, in the schema's order of sections, then the file's.

    ``system``: the deployment of rules that name none. ``cards``: by deployment. ``bounds_s``:
    how long a rule without a bound of its own waits for a deployment, if it has one (BUD-3).
    """
    rules = [rule for rule in signals.rules() if (rule.type, rule.name) in read]
    both_forms = asked_in_both_forms([r for r in rules if isinstance(r, ModelRule)], system)
    ready: list[ReadyRule] = []
    for rule in rules:
        if not isinstance(rule, ModelRule):
            ready.append(_model_free(rule))
            continue
        deployment = rule.deployment or system
        both = (deployment, rule.preset) in both_forms
        bound_s = bounds_s.get(deployment) if rule.timeout_ms is None else rule.timeout_ms / 1000
        ready.append(_asked(rule, question_of(rule), deployment, cards[deployment], both, bound_s))
    return tuple(ready)


def _model_free(rule: Rule) -> MeasuredRule:
    if not isinstance(rule, ModelFree):
        raise TypeError(f"{rule.type} has no measure")
    return measured(rule)


def _asked(
    rule: ModelRule,
    question: Question,
    deployment: str,
    card: Card,
    both_forms: bool,
    timeout_s: float | None,
) -> AskedRule:
    on_unknown = Truth(rule.on_unknown) if isinstance(rule, FailClosedRule) else None
    return AskedRule(
        type=rule.type,
        name=rule.name,
        deployment=deployment,
        id=question_id(rule, question, card.trained_ids, both_forms),
        question=question,
        state=StateKind.of(rule.reads),
        criterion=criterion_of(rule, question, card),
        timeout_s=timeout_s,
        on_unknown=on_unknown,
        about_a_turn=isinstance(rule, _ABOUT_A_TURN),
        labelled=getattr(rule, "labels", None) is not None,
        choices=tuple(o.key for o in question.options)
        if question.type is QuestionType.CHOICE
        else (),
        viewed=_viewed(rule),
    )


def _viewed(rule: ModelRule) -> bool:
    if isinstance(rule, SystemOneRule):
        return rule.coverage == "truncate"
    return not isinstance(rule, GuardRule)


def scanned_rule(
    written: ModelRule, rule: AskedRule, criteria: Sequence[Criterion], *, whole: bool
) -> ScannedRule | None:
    """What reads ``rule`` in windows, ``None`` for what is no guard. ``criteria``: of the
    conditions on it; ``whole``: a projection reads its value."""
    if not isinstance(written, GuardRule):
        return None
    return ScannedRule(
        id=rule.id,
        question=rule.question,
        criteria=tuple(dict.fromkeys(criteria or (rule.criterion,))),
        on_unscanned=written.on_unscanned,
        min_coverage=written.min_coverage,
        timeout_s=rule.timeout_s,
        whole=whole,
    )


def reads_of(rules: Collection[ReadyRule], signals: Signals) -> Reads:
    """What of a message the rules read."""
    states = [rule.state for rule in rules if isinstance(rule, AskedRule)]
    turn = any(isinstance(rule, AskedRule) and rule.about_a_turn for rule in rules)
    named = {(rule.type, rule.name) for rule in rules}
    return Reads(
        history=any(state.history for state in states),
        previous_turns=max([int(turn), *(state.previous_turns for state in states)]),
        tool_results=any(state.tool_results for state in states),
        images=any(state.images for state in states),
        metadata=frozenset(
            metadata_key(rule)
            for rule in signals.rules()
            if isinstance(rule, MetadataRule) and (rule.type, rule.name) in named
        ),
    )
