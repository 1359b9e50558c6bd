"""What the request stage asks, known before any request but for the states' texts (MRG-2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from serve_app.asking.call import Call
from serve_app.asking.planning import PlannedCall, Wanted, plan
from serve_app.message import Message
from serve_app.signals.rules import AskedRule, ReadyRule
from serve_app.signals.states import Reads, StateKind, has_earlier_turn

Placed = tuple[Call, dict[StateKind, str]]
"""A call, and the entry that holds each state."""


@dataclass(frozen=True, slots=True)
class SignalPlan:
    """``rules``: every rule that is read; readings and outcomes keep this order.

    ``first_turn`` and ``later_turn``: the calls of a conversation without and with an earlier
    turn. ``timeout_ms``: ``signal_timeout_ms``.
    """

    rules: tuple[ReadyRule, ...]
    first_turn: tuple[PlannedCall[StateKind], ...]
    later_turn: tuple[PlannedCall[StateKind], ...]
    reads: Reads
    timeout_ms: int

    def calls(self, message: Message, deadline_s: float) -> list[Placed]:
        """The stage's calls about ``message``, one per deployment."""
        planned = self.later_turn if has_earlier_turn(message) else self.first_turn
        kinds = {kind for call in planned for kind, _ in call.entries}
        states = {kind: kind.state(message) for kind in kinds}
        return [call.call(states, deadline_s) for call in planned]


def plan_signals(rules: tuple[ReadyRule, ...], reads: Reads, timeout_ms: int) -> SignalPlan:
    asked = [rule for rule in rules if isinstance(rule, AskedRule)]
    return SignalPlan(
        rules=rules,
        first_turn=plan(_wanted([rule for rule in asked if not rule.about_a_turn])),
        later_turn=plan(_wanted(asked)),
        reads=reads,
        timeout_ms=timeout_ms,
    )


def _wanted(rules: Collection[AskedRule]) -> Iterable[Wanted[StateKind]]:
    """In the schema's order of sections and then by id, whatever the file's order (SIG-4)."""
    sections = list(dict.fromkeys(rule.type for rule in rules))
    for rule in sorted(rules, key=lambda rule: (sections.index(rule.type), rule.id)):
        yield Wanted(rule.deployment, rule.state, rule.id, rule.question, rule.timeout_s)
