"""What is told of each rule (API-9, HDR-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from serve_app.outcome import Coverage, RuleOutcome, Truth
from serve_app.reading import Criterion, Reading, Readings
from serve_app.signals.measured import MeasuredRule
from serve_app.signals.rules import AskedRule, ReadyRule


def rule_outcomes(
    rules: Iterable[ReadyRule], readings: Readings, coverage: Mapping[int, Coverage]
) -> tuple[RuleOutcome, ...]:
    """The outcomes of the rules that were read, in their order. ``coverage``: by place."""
    return tuple(
        _measured(rule, reading)
        if isinstance(rule, MeasuredRule)
        else _asked(rule, reading, coverage.get(place))
        for place, (rule, reading) in enumerate(zip(rules, readings, strict=True))
        if reading is not None
    )


def _measured(rule: MeasuredRule, reading: Reading) -> RuleOutcome:
    truth = rule.criterion.truth(reading)
    if not rule.counts:
        return RuleOutcome(rule.type, rule.name, truth, truth)
    value, threshold, margin = _figures(rule.criterion, reading)
    return RuleOutcome(rule.type, rule.name, truth, truth, value, None, threshold, margin)


def _asked(rule: AskedRule, reading: Reading, coverage: Coverage | None) -> RuleOutcome:
    truth = rule.criterion.truth(reading)
    if not reading.values and reading.reason is None and not reading.open:
        return RuleOutcome(
            rule.type, rule.name, truth, truth, labelled=rule.labelled, coverage=coverage
        )
    value, threshold, margin = _figures(rule.criterion, reading)
    return RuleOutcome(
        type=rule.type,
        name=rule.name,
        verdict=truth,
        effective=_effective(rule, truth, reading),
        value=value,
        option=None if reading.winner is None else rule.choices[reading.winner],
        threshold=threshold,
        margin=margin,
        reason=reading.reason,
        question_id=rule.id,
        deployment=rule.deployment,
        labelled=rule.labelled,
        coverage=coverage,
    )


def _effective(rule: AskedRule, truth: Truth, reading: Reading) -> Truth:
    """After the rule's own policy; none applies while the rule is being read."""
    if truth is not Truth.UNKNOWN or reading.open:
        return truth
    return rule.on_unknown or truth


def _figures(
    criterion: Criterion, reading: Reading
) -> tuple[float | None, float | None, float | None]:
    """``(value, threshold, margin)``; of an unknown rule the threshold alone, if it has one."""
    value = criterion.value(reading)
    bounds = criterion.bounds_of(reading)
    if bounds is None:
        return value, None, None
    if value is None:
        return None, bounds.single, None
    threshold = bounds.deciding(value)
    return value, threshold, None if threshold is None else value - threshold
