"""Rules without a model: what they read of a message costs no call (CFG-6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from serve_app.config.schema.signals import (
    ContextRule,
    ConversationRule,
    InputModalityRule,
    KeywordRule,
    MetadataRule,
    ModelRule,
    Rule,
)
from serve_app.message import Message, Modality
from serve_app.reading import Bounds, Criterion, Reading
from serve_app.signals.words import Words

Measure = Callable[[Message], float]

_YES = Bounds.make(gte=1)


@dataclass(frozen=True, slots=True)
class MeasuredRule:
    """``measure``: message -> a count, or 1 and 0 for yes and no (``counts`` tells which)."""

    type: str
    name: str
    measure: Measure
    criterion: Criterion
    counts: bool

    def read(self, message: Message) -> Reading:
        return Reading((self.measure(message),))


ModelFree = KeywordRule | ContextRule | ConversationRule | InputModalityRule | MetadataRule


def measured(rule: ModelFree) -> MeasuredRule:
    measure, bounds = _measure(rule)
    counts = isinstance(rule, ContextRule | ConversationRule)
    return MeasuredRule(rule.type, rule.name, measure, Criterion((0,), bounds), counts)


def _measure(rule: ModelFree) -> tuple[Measure, Bounds]:
    match rule:
        case KeywordRule():
            words = Words.of(rule)
            return lambda message: float(words.match(message.text)), _YES
        case ContextRule():
            return lambda message: float(message.tokens), _between(rule)
        case ConversationRule():
            return _count(rule.count), Bounds.of(rule.predicate)
        case InputModalityRule():
            modality = Modality(rule.modality)
            return lambda message: float(modality in message.modalities), _YES
        case MetadataRule():
            return _metadata(rule), _YES
        case _:
            assert_never(rule)


def _between(rule: ContextRule) -> Bounds:
    limits = {"gte": rule.min_tokens, "lte": rule.max_tokens}
    return Bounds.make(**{name: limit for name, limit in limits.items() if limit is not None})


def _count(what: str) -> Measure:
    if what == "messages":
        return lambda message: float(
            message.counts.system
            + message.counts.user
            + message.counts.assistant
            + message.counts.tool
        )
    return lambda message: float(getattr(message.counts, what))


def metadata_key(rule: MetadataRule) -> str:
    """The rule's key in ``Message.metadata``."""
    return f"header.{rule.header.lower()}" if rule.header is not None else rule.key or ""


def _metadata(rule: MetadataRule) -> Measure:
    key = metadata_key(rule)
    allowed = [rule.equals] if rule.equals is not None else rule.any_of
    if allowed is None:
        return lambda message: float(key in message.metadata)
    wanted = frozenset(allowed)
    return lambda message: float(message.metadata.get(key) in wanted)


def is_model_free(rule: Rule) -> bool:
    return not isinstance(rule, ModelRule)
