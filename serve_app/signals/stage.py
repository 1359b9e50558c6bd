"""The request stage: a message's readings, by rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.questions.types import AnswerError
from serve_app.asking.call import Ask, Call, Reply
from serve_app.asking.stage import Clock, answered
from serve_app.message import Message
from serve_app.reading import NOT_ARISING, Reading, Readings
from serve_app.signals.answers import reading_of
from serve_app.signals.measured import MeasuredRule
from serve_app.signals.plan import SignalPlan
from serve_app.signals.rules import AskedRule, ReadyRule
from serve_app.signals.states import StateKind, has_earlier_turn

_LATE = Reading(reason=AnswerError.DEADLINE_EXCEEDED)
_Replies = dict[str, tuple[dict[StateKind, str], Reply]]


def measure(plan: SignalPlan, message: Message) -> Readings:
    """Rules without a model, read; ``None`` for the others (CFG-6)."""
    return [rule.read(message) if isinstance(rule, MeasuredRule) else None for rule in plan.rules]


@dataclass(frozen=True, slots=True)
class Asked:
    """``readings``: of every rule. ``exchanges``: each call with its reply."""

    readings: Readings
    exchanges: Sequence[tuple[Call, Reply]]


async def ask_signals(
    plan: SignalPlan,
    message: Message,
    measured: Readings,
    *,
    ask: Ask,
    clock: Clock,
    deadline_s: float,
) -> Asked:
    """Asks the rules that ``measure`` left open, in one call per deployment (SIG-3).

    ``deadline_s``: seconds from now until the signal deadline (BUD-3).
    """
    placed = plan.calls(message, deadline_s)
    calls = [call for call, _ in placed]
    replies = await answered(calls, ask, clock)
    by_deployment = {
        call.deployment: (names, reply)
        for (call, names), reply in zip(placed, replies, strict=True)
    }
    turn = has_earlier_turn(message)
    readings: Readings = [
        _read(rule, by_deployment, turn) if reading is None else reading
        for rule, reading in zip(plan.rules, measured, strict=True)
    ]
    return Asked(readings, list(zip(calls, replies, strict=True)))


def _read(rule: ReadyRule, replies: _Replies, turn: bool) -> Reading:
    assert isinstance(rule, AskedRule)  # the others were measured
    if rule.about_a_turn and not turn:
        return NOT_ARISING
    names, reply = replies[rule.deployment]
    if rule.timeout_s is not None and reply.elapsed_ms > rule.timeout_s * 1000:
        return _LATE
    return reading_of(rule.question, reply.answers[names[rule.state]][rule.id])
