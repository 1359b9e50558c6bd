"""What is told of each rule (API-9, HDR-2)."""

from __future__ import annotations

from collections.abc import Iterable

from serve_app.outcome import RuleOutcome, Truth
from serve_app.reading import Criterion, Reading, Readings
from serve_app.signals.measured import MeasuredRule
from serve_app.signals.rules import AskedRule, ReadyRule


def rule_outcomes(rules: Iterable[ReadyRule], readings: Readings) -> tuple[RuleOutcome, ...]:
    """The outcomes of the rules that were read, in their order."""
    return tuple(
        _measured(rule, reading) if isinstance(rule, MeasuredRule) else _asked(rule, reading)
        for rule, reading in zip(rules, readings, strict=True)
        if reading is not None
    )


def _measured(rule: MeasuredRule, reading: Reading) -> RuleOutcome:
    truth = rule.criterion.truth(reading)
    if not rule.counts:
        return RuleOutcome(rule.type, rule.name, truth, truth)
    value, threshold, margin = _figures(rule.criterion, reading)
    return RuleOutcome(rule.type, rule.name, truth, truth, value, None, threshold, margin)


def _asked(rule: AskedRule, reading: Reading) -> RuleOutcome:
    truth = rule.criterion.truth(reading)
    if not reading.values and reading.reason is None:
        return RuleOutcome(rule.type, rule.name, truth, truth, labelled=rule.labelled)
    value, threshold, margin = _figures(rule.criterion, reading)
    return RuleOutcome(
        type=rule.type,
        name=rule.name,
        verdict=truth,
        effective=rule.on_unknown or truth if truth is Truth.UNKNOWN else truth,
        value=value,
        option=None if reading.winner is None else rule.choices[reading.winner],
        threshold=threshold,
        margin=margin,
        reason=reading.reason,
        question_id=rule.id,
        deployment=rule.deployment,
        labelled=rule.labelled,
    )


def _figures(
    criterion: Criterion, reading: Reading
) -> tuple[float | None, float | None, float | None]:
    """``(value, threshold, margin)``; of an unknown rule the threshold alone, if it has one."""
    value = criterion.value(reading)
    if criterion.bounds is None:
        return value, None, None
    if value is None:
        return None, criterion.bounds.single, None
    threshold = criterion.bounds.deciding(value)
    return value, threshold, None if threshold is None else value - threshold
