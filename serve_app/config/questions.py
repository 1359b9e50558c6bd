"""What a rule asks: its preset's question, or its own (CFG-4)."""

from __future__ import annotations

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
