"""``recipes[].signals``: the rules (CFG-4, CFG-5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import Field

from serve_app.config.schema.base import Name, Section
from serve_app.config.schema.predicate import Predicate


class Input(Section):
    """Which state a rule reads beside the latest user message (SIG-2)."""

    history: bool = False
    previous_turns: int = Field(default=0, ge=0, le=1_000)
    tool_results: bool = False
    images: bool = False


class Rule(Section):
    """A named detector. ``type`` is what conditions call its kind."""

    type: ClassVar[str]
    name: Name
    description: str = ""


class ModelRule(Rule):
    """A rule that asks a decision model.

    ``preset`` names the question asked; ``deployment`` the model, else the system's.
    """

    preset: ClassVar[str | None] = None
    default_input: ClassVar[Input] = Input()

    deployment: Name | None = None
    predicate: Predicate | None = None
    timeout_ms: int | None = Field(default=None, ge=1, le=60_000)
    input: Input | None = None

    @property
    def reads(self) -> Input:
        return self.default_input if self.input is None else self.input


class LabelRule(ModelRule):
    """A rule that may be narrowed to some options of its question."""

    labels: list[str] | None = Field(default=None, min_length=1)


class GuardRule(ModelRule):
    """A rule that guards: predicates look upwards alone (checked by the loader).

    ``on_unscanned``: what it says of a long input that was read in part; ``min_coverage``: the
    share of windows below which ``best_effort`` says nothing (COV-1, COV-2).
    """

    on_unscanned: Literal["best_effort", "match", "no_match", "unknown"] = "best_effort"
    min_coverage: float | None = Field(default=None, ge=0, le=1)


class FailClosedRule(GuardRule):
    on_unknown: Literal["match", "no_match"] = "match"


class DomainRule(LabelRule):
    type = "domain"
    preset = "domain"


class JailbreakRule(FailClosedRule):
    type = "jailbreak"
    preset = "jailbreak"


class SafetyRule(GuardRule):
    """With ``labels`` a set question over those harms, else the ``harm`` noul."""

    type = "safety"
    preset = "harm"
    labels: list[str] | None = Field(default=None, min_length=1)


class PiiRule(FailClosedRule):
    type = "pii"
    preset = "pii"
    labels: list[str] | None = Field(default=None, min_length=1)


class ComplexityRule(ModelRule):
    type = "complexity"
    preset = "complexity"


class ModalityRule(ModelRule):
    type = "modality"
    preset = "modality"


class FactCheckRule(ModelRule):
    type = "fact_check"
    preset = "fact_check"


class UserFeedbackRule(LabelRule):
    type = "user_feedback"
    preset = "user_feedback"
    default_input = Input(previous_turns=1)


class TurnRelationRule(LabelRule):
    type = "turn_relation"
    preset = "turn_relation"
    default_input = Input(previous_turns=1)


class SystemOneRule(ModelRule):
    """The user's own question, as on the wire; parsed by ``models.questions.parse``. ``coverage``:
    of a long message all, or what routing questions see of it (VIEW-1)."""

    type = "systemone"
    question: dict[str, Any]
    coverage: Literal["full", "truncate"] = "full"


class KeywordRule(Rule):
    """Words match whole, expressions by RE2 (linear time). ``operator``: any, all or none."""

    type = "keywords"
    operator: Literal["OR", "AND", "NOR"] = "OR"
    keywords: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    patterns: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    case_sensitive: bool = False


class ContextRule(Rule):
    """Matches when the prompt's token estimate lies in ``[min_tokens, max_tokens]``."""

    type = "context"
    min_tokens: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)


class ConversationRule(Rule):
    """Compares a count of the conversation."""

    type = "conversation"
    count: Literal[
        "messages",
        "system",
        "user",
        "assistant",
        "tool",
        "tool_definitions",
        "tool_calls",
        "images",
    ]
    predicate: Predicate


class InputModalityRule(Rule):
    """Matches when a part of a user message has this kind."""

    type = "input_modality"
    modality: Literal["text", "image", "audio", "video", "file"]


class MetadataRule(Rule):
    """Matches when a header or a member of the body's ``metadata`` is there, or is as said."""

    type = "metadata"
    header: str | None = None
    key: str | None = None
    equals: str | None = None
    any_of: list[str] | None = Field(default=None, min_length=1)


class Signals(Section):
    domains: list[DomainRule] = Field(default_factory=list)
    jailbreak: list[JailbreakRule] = Field(default_factory=list)
    safety: list[SafetyRule] = Field(default_factory=list)
    pii: list[PiiRule] = Field(default_factory=list)
    complexity: list[ComplexityRule] = Field(default_factory=list)
    modality: list[ModalityRule] = Field(default_factory=list)
    fact_check: list[FactCheckRule] = Field(default_factory=list)
    user_feedbacks: list[UserFeedbackRule] = Field(default_factory=list)
    turn_relation: list[TurnRelationRule] = Field(default_factory=list)
    systemone: list[SystemOneRule] = Field(default_factory=list)
    keywords: list[KeywordRule] = Field(default_factory=list)
    context: list[ContextRule] = Field(default_factory=list)
    conversation: list[ConversationRule] = Field(default_factory=list)
    input_modality: list[InputModalityRule] = Field(default_factory=list)
    metadata: list[MetadataRule] = Field(default_factory=list)

    def rules(self) -> list[Rule]:
        """Every rule, by section in the schema's order, then in the file's."""
        return [rule for section in type(self).model_fields for rule in getattr(self, section)]


SECTIONS: Final[Mapping[str, type[Rule]]] = {
    section: get_args(field.annotation)[0] for section, field in Signals.model_fields.items()
}
"""Section -> the class of its rules, whose ``type`` conditions name (CFG-4)."""
