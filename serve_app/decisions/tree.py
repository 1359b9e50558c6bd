"""Conditions in three-valued logic (UNK-1, UNK-2, CFG-7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from serve_app.config.schema.decisions import Group, Leaf, Rules
from serve_app.decisions.projections import Score
from serve_app.outcome import NodeOutcome, Truth
from serve_app.reading import Bounds, Criterion, Readings

Operator: TypeAlias = Literal["AND", "OR", "NOT"]

_NEGATION: Final = {
    Truth.TRUE: Truth.FALSE,
    Truth.FALSE: Truth.TRUE,
    Truth.UNKNOWN: Truth.UNKNOWN,
}

_JOINED: Final = {"AND": (Truth.TRUE, Truth.FALSE), "OR": (Truth.FALSE, Truth.TRUE)}
"""Operator -> what nothing joins to, and what decides."""

_UNKNOWN: Final = Truth.UNKNOWN


def kleene(operator: Operator, truths: Iterable[Truth]) -> Truth:
    """Joins truths; stops at the first that decides. AND of nothing is true, OR false."""
    if operator == "NOT":
        return _NEGATION[next(iter(truths))]
    joined, decisive = _JOINED[operator]
    for truth in truths:
        if truth is decisive:
            return truth
        if truth is _UNKNOWN:
            joined = truth
    return joined


@dataclass(frozen=True, slots=True)
class RuleLeaf:
    """A condition on a rule.

    ``rule``: its place among readings. ``on_unknown`` is the rule's own policy and goes before
    ``on_error``, the condition's. ``probable``: a model's probability is behind its value.
    """

    condition: str
    rule: int
    criterion: Criterion
    on_unknown: Truth | None = None
    on_error: Truth | None = None
    probable: bool = False

    def truth(self, readings: Readings) -> Truth:
        """Unknown, whatever the policies, while the rule has not been asked or is being read."""
        reading = readings[self.rule]
        if reading is None:
            return Truth.UNKNOWN
        truth = self.criterion.truth(reading)
        if truth is Truth.UNKNOWN and not reading.open:
            return self.on_unknown or self.on_error or truth
        return truth

    def outcome(self, readings: Readings) -> NodeOutcome:
        return NodeOutcome(self.truth(readings), condition=self.condition)


@dataclass(frozen=True, slots=True)
class BandLeaf:
    """A condition on a projection's band."""

    condition: str
    score: Score
    bounds: Bounds
    on_error: Truth | None = None

    def truth(self, readings: Readings) -> Truth:
        value = self.score.value(readings)
        if value is not None:
            return Truth.TRUE if self.bounds.holds(value) else Truth.FALSE
        if self.on_error is not None and self.score.asked(readings):
            return self.on_error
        return Truth.UNKNOWN

    def outcome(self, readings: Readings) -> NodeOutcome:
        return NodeOutcome(self.truth(readings), condition=self.condition)


@dataclass(frozen=True, slots=True)
class Branch:
    operator: Operator
    children: tuple[Node, ...]

    def truth(self, readings: Readings) -> Truth:
        return kleene(self.operator, (child.truth(readings) for child in self.children))

    def outcome(self, readings: Readings) -> NodeOutcome:
        """The whole branch, also what lies behind a child that decides it."""
        children = tuple(child.outcome(readings) for child in self.children)
        truth = kleene(self.operator, (child.truth for child in children))
        return NodeOutcome(truth, operator=self.operator, children=children)


Node: TypeAlias = RuleLeaf | BandLeaf | Branch


def ready_tree(rules: Rules, leaf: Callable[[Leaf], RuleLeaf | BandLeaf]) -> Branch:
    """The tree of ``rules``; an empty one is a catch-all and true. ``leaf`` resolves names."""
    if not rules.conditions:
        return Branch("AND", ())

    def ready(node: Leaf | Group) -> Node:
        if isinstance(node, Leaf):
            return leaf(node)
        return Branch(node.operator, tuple(ready(child) for child in node.conditions))

    return Branch(rules.operator, tuple(ready(child) for child in rules.conditions))


def leaves(node: Node) -> list[RuleLeaf | BandLeaf]:
    """Every leaf below ``node``, left to right."""
    if isinstance(node, Branch):
        return [leaf for child in node.children for leaf in leaves(child)]
    return [node]
