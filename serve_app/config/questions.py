"""What a rule asks, its preset's question or its own, and under which id (CFG-4, SIG-6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from models.questions.parse import parse_question
from models.questions.presets import preset_question
from models.questions.types import Question, QuestionType
from serve_app.config.schema.signals import ModelRule, SafetyRule, SystemOneRule


def question_of(rule: ModelRule) -> Question:
    """What the rule asks; ``QuestionError`` if its own question cannot be asked.

    A preset is asked with all its options, whatever the labels (SIG-5). A safety rule with
    labels asks the set of harms.
    """
    if isinstance(rule, SystemOneRule):
        return parse_question(rule.question, client=False)
    preset = preset_of(rule)
    if isinstance(rule, SafetyRule) and rule.labels is not None:
        return preset_question(preset, QuestionType.SET)
    return preset_question(preset)


def preset_of(rule: ModelRule) -> str:
    """The preset of a rule without a question of its own."""
    if rule.preset is None:
        raise TypeError(f"{rule.type} has no preset")
    return rule.preset


def question_id(
    rule: ModelRule, question: Question, trained_ids: Mapping[str, str], both_forms: bool
) -> str:
    """The question's id (SIG-6).

    ``both_forms``: the deployment is asked the rule's preset in two types; the one that is not
    the preset's own then carries its type too.
    """
    if isinstance(rule, SystemOneRule):
        return f"systemone:{rule.name}"
    preset = preset_of(rule)
    if question.type is preset_question(preset).type:
        return trained_ids.get(preset, f"preset:{preset}")
    return f"preset:{preset}:{question.type}" if both_forms else f"preset:{preset}"


def asked_in_both_forms(rules: Iterable[ModelRule], system: str) -> frozenset[tuple[str, str]]:
    """``(deployment, preset)`` of each preset that ``rules`` ask a deployment in two types.

    ``system``: the deployment of rules that name none.
    """
    forms = {
        (rule.deployment or system, rule.preset, question_of(rule).type)
        for rule in rules
        if rule.preset is not None
    }
    asked = Counter((deployment, preset) for deployment, preset, _ in forms)
    return frozenset(form for form, types in asked.items() if types > 1)
