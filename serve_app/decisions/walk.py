"""Which decision is taken (DEC-1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from serve_app.decisions.ready import ReadyDecision
from serve_app.outcome import DecisionOutcome, NearestChange, Truth
from serve_app.reading import Readings


@dataclass(frozen=True, slots=True)
class Walk:
    """How the walk ended, and at which decision.

    ``taken``; ``failed``: its ``fail_request`` ends the request; ``open``: it depends on rules
    that have not been asked; ``none``: no decision matched.
    """

    end: Literal["taken", "failed", "open", "none"]
    at: int | None = None


def walk(decisions: Sequence[ReadyDecision], readings: Readings, *, asked: bool) -> Walk:
    """Tries the decisions in order.

    ``asked``: every rule has been read. A root that is unknown then follows its policy; before,
    the walk ends there (CFG-6).
    """
    for index, decision in enumerate(decisions):
        truth = decision.root.truth(readings)
        if truth is Truth.UNKNOWN:
            if not asked:
                return Walk("open", index)
            if decision.on_unknown == "fail_request":
                return Walk("failed", index)
            truth = Truth(decision.on_unknown)
        if truth is Truth.TRUE:
            return Walk("taken", index)
    return Walk("none")


def decision_outcomes(
    decisions: Sequence[ReadyDecision],
    readings: Readings,
    walked: Walk,
    nearest: dict[int, NearestChange],
) -> tuple[DecisionOutcome, ...]:
    """Every decision with its tree; a root's policy counts as far as the walk came."""
    outcomes = []
    for index, decision in enumerate(decisions):
        tree = decision.root.outcome(readings)
        truth = tree.truth
        reached = walked.at is None or index <= walked.at
        if truth is Truth.UNKNOWN and reached and decision.on_unknown != "fail_request":
            truth = Truth(decision.on_unknown)
        taken = walked.end == "taken" and index == walked.at
        change = None if taken else nearest.get(index)
        outcomes.append(
            DecisionOutcome(decision.name, decision.priority, truth, tree, taken, change)
        )
    return tuple(outcomes)
