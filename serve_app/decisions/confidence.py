"""How sure the decision taken is (HDR-2)."""

from __future__ import annotations

from serve_app.decisions.tree import BandLeaf, Branch, Node, RuleLeaf
from serve_app.outcome import Truth
from serve_app.reading import Readings


def confidence(root: Branch, readings: Readings) -> float | None:
    """The least probability that a matched condition rests on; ``None`` without one.

    Conditions below NOT, bands, expected levels and guards that match for want of an answer
    rest on no probability of their own.
    """
    return min(_probabilities(root, readings), default=None)


def _probabilities(node: Node, readings: Readings) -> list[float]:
    match node:
        case Branch(operator, children):
            if operator == "NOT" or node.truth(readings) is not Truth.TRUE:
                return []
            return [p for child in children for p in _probabilities(child, readings)]
        case RuleLeaf(rule=rule, criterion=criterion, probable=True):
            reading = readings[rule]
            if reading is None or not reading.values or not criterion.met(reading):
                return []
            value = criterion.value(reading)
            return [] if value is None else [value]
        case RuleLeaf() | BandLeaf():
            return []
