"""How near each decision was: the least change of one value that would take it (API-9)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from serve_app.decisions.change import Change, Scale
from serve_app.decisions.ready import ReadyDecision
from serve_app.decisions.tree import BandLeaf, RuleLeaf, leaves
from serve_app.decisions.walk import walk
from serve_app.outcome import NearestChange
from serve_app.reading import Bounds, Criterion, Reading, Readings

BEYOND: Final = 1e-9
"""How far past a bound is "past": a step below any probability worth telling apart."""

MOST: Final = 1e9
"""The greatest count tried: tokens of a prompt stay far below."""


def nearest_changes(
    decisions: Sequence[ReadyDecision],
    scales: Sequence[Scale],
    readings: Readings,
    *,
    asked: bool,
) -> dict[int, NearestChange]:
    """By decision, the least change of a single rule's value after which the walk takes it.

    The whole walk counts: the decision's own tree must come out true, and no decision before it
    may be taken. Rules without a value are left as they are. Sizes are compared as they stand,
    a probability's 0.2 with a count's 2. ``scales``: by rule; ``asked``: as for ``walk``.
    """
    nearest: dict[int, NearestChange] = {}
    readers = _readers(decisions)
    for change in _changes(decisions, scales, readings):
        affected = [leaf for leaf, reads in readers if not reads.isdisjoint(change.rules)]
        seen = {tuple(leaf.truth(readings) for leaf in affected)}
        for value in _candidates(change, affected, readings):
            moved = _with(readings, change.rules, change.to(value))
            truths = tuple(leaf.truth(moved) for leaf in affected)
            if truths in seen:  # a nearer value had the same effect
                continue
            seen.add(truths)
            walked = walk(decisions, moved, asked=asked)
            if walked.end != "taken" or walked.at is None:
                continue
            known = nearest.get(walked.at)
            if known is None or abs(value - change.value) < abs(known.by):
                nearest[walked.at] = NearestChange(change.name, change.value, value)
    return nearest


def _readers(
    decisions: Sequence[ReadyDecision],
) -> list[tuple[RuleLeaf | BandLeaf, frozenset[int]]]:
    """Every leaf and the rules that it reads."""
    return [
        (leaf, frozenset([leaf.rule]))
        if isinstance(leaf, RuleLeaf)
        else (leaf, frozenset(term.rule for term in leaf.score.terms))
        for decision in decisions
        for leaf in leaves(decision.root)
    ]


def _changes(
    decisions: Sequence[ReadyDecision],
    scales: Sequence[Scale],
    readings: Readings,
) -> list[Change]:
    """Every value that a condition or a projection reads, once."""
    changes: dict[tuple[int, tuple[int, ...]], Change] = {}
    for condition, rule, criterion in _read(decisions):
        reading, scale = readings[rule], scales[rule]
        if reading is None or not _known(reading):
            continue
        rules = frozenset(
            i
            for i, other in enumerate(scales)
            if other.answer == scale.answer and _known(readings[i])
        )
        apart = bool(scale.options) and len(criterion.options) > 1
        for options in [(i,) for i in criterion.options] if apart else [criterion.options]:
            name = f"{scale.key}:{scale.options[options[0]]}" if apart else condition
            key = (scale.answer, options)
            changes.setdefault(key, Change.of(name, rules, options, scale, reading))
    return list(changes.values())


def _known(reading: Reading | None) -> bool:
    """Whether it is its values that say what they say of a rule."""
    if reading is None or reading.open or reading.unread is not None:
        return False
    return bool(reading.values)


def _read(decisions: Sequence[ReadyDecision]) -> Iterator[tuple[str, int, Criterion]]:
    for decision in decisions:
        for leaf in leaves(decision.root):
            if isinstance(leaf, RuleLeaf):
                yield leaf.condition, leaf.rule, leaf.criterion
            else:
                yield from ((t.condition, t.rule, t.criterion) for t in leaf.score.terms)


def _candidates(
    change: Change, affected: Sequence[RuleLeaf | BandLeaf], readings: Readings
) -> list[float]:
    """Values at and just past each point where a leaf may turn, nearest first."""
    top = MOST if math.isinf(change.scale.top) else change.scale.top
    turns = {
        turn
        for criterion in _criteria(change.rules, affected)
        for turn in change.turning_points(criterion)
        if 0 <= turn <= top
    }
    points = set(turns)
    line: list[tuple[float, Reading]] = []
    for leaf in affected:
        bounds = leaf.bounds if isinstance(leaf, BandLeaf) else _bounds(leaf, readings)
        if bounds is None:
            continue
        limits = [bound for _, bound in bounds.comparisons]
        if isinstance(leaf, RuleLeaf) and leaf.criterion.options == change.options:
            points.update(limits)  # compared as it is
            continue
        kinks = sorted({0.0, top, change.value, *turns})
        line = line or [(kink, change.to(kink)) for kink in kinks]
        points.update(_crossings(leaf, limits, change, line, readings))
    if change.scale.whole:
        values = {float(math.floor(point) + step) for point in points for step in (-1, 0, 1, 2)}
    else:
        values = {point + step for point in points for step in (-BEYOND, 0.0, BEYOND)}
    return sorted(
        (value for value in values if 0 <= value <= top and value != change.value),
        key=lambda value: abs(value - change.value),
    )


def _bounds(leaf: RuleLeaf, readings: Readings) -> Bounds | None:
    reading = readings[leaf.rule]
    return leaf.criterion.bounds if reading is None else leaf.criterion.bounds_of(reading)


def _criteria(
    rules: frozenset[int], affected: Sequence[RuleLeaf | BandLeaf]
) -> Iterator[Criterion]:
    for leaf in affected:
        if isinstance(leaf, RuleLeaf):
            yield leaf.criterion
        else:
            yield from (term.criterion for term in leaf.score.terms if term.rule in rules)


def _crossings(
    leaf: RuleLeaf | BandLeaf,
    limits: Sequence[float],
    change: Change,
    line: Sequence[tuple[float, Reading]],
    readings: Readings,
) -> Iterator[float]:
    """Where what the leaf compares meets a limit: between two of ``line`` it is linear."""
    heights = [(value, _height(leaf, change, moving, readings)) for value, moving in line]
    for (a, low), (b, high) in pairwise(heights):
        if low is None or high is None:
            continue
        for limit in limits:
            if low == limit:
                yield a
            if high == limit:
                yield b
            elif (low - limit) * (high - limit) < 0:
                yield a + (limit - low) / (high - low) * (b - a)


def _height(
    leaf: RuleLeaf | BandLeaf, change: Change, moving: Reading, readings: Readings
) -> float | None:
    """What the leaf compares with its bounds; ``None`` if another rule leaves it unknown."""
    if isinstance(leaf, RuleLeaf):
        return leaf.criterion.value(moving)
    return leaf.score.value(_with(readings, change.rules, moving))


def _with(readings: Readings, rules: frozenset[int], moved: Reading) -> Readings:
    return [moved if i in rules else reading for i, reading in enumerate(readings)]
