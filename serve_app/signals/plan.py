"""What the request stage asks, known before any request but for the states' texts (MRG-2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from models.questions.types import JsonValue
from serve_app.asking.call import Call
from serve_app.asking.planning import PlannedCall, Wanted, plan
from serve_app.config.sizes import Sizes
from serve_app.message import Message
from serve_app.scan.rule import ScannedRule
from serve_app.scan.text import size_of
from serve_app.scan.view import MOST_BESIDE, state_size, viewed
from serve_app.signals.rules import AskedRule, ReadyRule
from serve_app.signals.states import Reads, StateKind, has_earlier_turn, joined

Part = tuple[StateKind, bool]
"""A state, whole or as routing questions see it (VIEW-1)."""

Placed = tuple[Call, dict[Part, str]]
"""A call, and the entry that holds each state."""

_LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class LongInput:
    """A text that guards of one deployment read in windows. ``rules``: their places (SCAN-3)."""

    deployment: str
    text: str
    rules: Sequence[int]


@dataclass(frozen=True, slots=True)
class Work:
    """What is asked about a message: one call per deployment, and long inputs in windows."""

    calls: Sequence[Placed]
    long: Sequence[LongInput] = ()


@dataclass(frozen=True, slots=True)
class SignalPlan:
    """``rules``: every rule that is read; readings and outcomes keep this order.

    ``first_turn`` and ``later_turn``: the calls of a conversation without and with an earlier
    turn, about texts that are no longer than any view or window. ``timeout_ms``:
    ``signal_timeout_ms``. ``sizes``: by deployment. ``scanned``: by place, the rules that read all
    of a long input.
    """

    rules: tuple[ReadyRule, ...]
    first_turn: tuple[PlannedCall[Part], ...]
    later_turn: tuple[PlannedCall[Part], ...]
    reads: Reads
    timeout_ms: int
    sizes: Mapping[str, Sizes]
    scanned: Mapping[int, ScannedRule] = field(default_factory=dict)

    def work(self, message: Message) -> Work:
        if self._may_be_long(message):
            return self._long(message)
        planned = self.later_turn if has_earlier_turn(message) else self.first_turn
        parts = {part for call in planned for part, _ in call.entries}
        states = {part: part[0].state(message) for part in parts}
        return Work([call.call(states) for call in planned])

    def _may_be_long(self, message: Message) -> bool:
        """Whether a state may be more, as a model reads it, than some view or window holds."""
        least = min((min(s.view, s.window) for s in self.sizes.values()), default=None)
        if least is None:
            return False
        # A turn may stand in a state twice: in its history and among its previous turns.
        texts = (message.text, *(t.text for t in message.earlier * 2), *message.tool_results)
        most = sum(map(len, texts)) * _LONGEST_CHARACTER + len(texts) * MOST_BESIDE
        return most > least

    def _long(self, message: Message) -> Work:
        turn = has_earlier_turn(message)
        states = _States(message)
        seen: dict[str, dict[Part, JsonValue]] = {}
        wanted: list[tuple[AskedRule, Part]] = []
        long: dict[tuple[str, StateKind], list[int]] = {}
        for place, rule in enumerate(self.rules):
            if not isinstance(rule, AskedRule) or (rule.about_a_turn and not turn):
                continue
            sizes = self.sizes[rule.deployment]
            if place in self.scanned and states.in_windows(rule.state, sizes):
                long.setdefault((rule.deployment, states.like(rule.state)), []).append(place)
                continue
            whole = states.whole(rule.state)
            shown = states.viewed(rule.state, sizes) if rule.viewed else whole
            part = rule.state, shown is not whole
            seen.setdefault(rule.deployment, {})[part] = shown
            wanted.append((rule, part))
        calls = plan(_wanted(wanted))
        return Work(
            [call.call(seen[call.deployment]) for call in calls],
            [LongInput(name, states.text(kind), rules) for (name, kind), rules in long.items()],
        )


class _States:
    """The states of a long message, each made, joined and cut once."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._whole: dict[StateKind, dict[str, JsonValue]] = {}
        self._texts: dict[StateKind, str] = {}
        self._sizes: dict[StateKind, tuple[int, int]] = {}
        self._viewed: dict[tuple[StateKind, int, float], dict[str, JsonValue]] = {}

    def whole(self, kind: StateKind) -> dict[str, JsonValue]:
        if kind not in self._whole:
            self._whole[kind] = kind.state(self._message)
        return self._whole[kind]

    def text(self, kind: StateKind) -> str:
        """What guards read in windows."""
        if kind not in self._texts:
            self._texts[kind] = joined(self.whole(kind))
        return self._texts[kind]

    def in_windows(self, kind: StateKind, sizes: Sizes) -> bool:
        """Whether guards read the state's texts in windows: they are longer than one (SCAN-1), or
        fit one alone, without what keys and entries add for a model (SIZE-1)."""
        if kind not in self._sizes:
            self._sizes[kind] = size_of(self.text(kind)), state_size(self.whole(kind))
        text, state = self._sizes[kind]
        return text > sizes.window or state > sizes.largest

    def like(self, kind: StateKind) -> StateKind:
        """The first kind whose text is the same: their windows are shared (SCAN-3)."""
        return next(k for k in [*self._texts, kind] if self.text(k) == self.text(kind))

    def viewed(self, kind: StateKind, sizes: Sizes) -> dict[str, JsonValue]:
        key = kind, sizes.view, sizes.head_share
        if key not in self._viewed:
            self._viewed[key] = viewed(self.whole(kind), sizes)
        return self._viewed[key]


def plan_signals(
    rules: tuple[ReadyRule, ...],
    reads: Reads,
    timeout_ms: int,
    sizes: Mapping[str, Sizes],
    scanned: Mapping[int, ScannedRule],
) -> SignalPlan:
    asked = [rule for rule in rules if isinstance(rule, AskedRule)]
    return SignalPlan(
        rules=rules,
        first_turn=plan(_wanted(_whole(rule for rule in asked if not rule.about_a_turn))),
        later_turn=plan(_wanted(_whole(asked))),
        reads=reads,
        timeout_ms=timeout_ms,
        sizes={rule.deployment: sizes[rule.deployment] for rule in asked},
        scanned=scanned,
    )


def _whole(rules: Iterable[AskedRule]) -> list[tuple[AskedRule, Part]]:
    return [(rule, (rule.state, False)) for rule in rules]


def _wanted(rules: Collection[tuple[AskedRule, Part]]) -> Iterable[Wanted[Part]]:
    """In the schema's order of sections and then by id, whatever the file's order (SIG-4)."""
    sections = list(dict.fromkeys(rule.type for rule, _ in rules))
    for rule, part in sorted(rules, key=lambda one: (sections.index(one[0].type), one[0].id)):
        yield Wanted(rule.deployment, part, rule.id, rule.question, rule.timeout_s)
