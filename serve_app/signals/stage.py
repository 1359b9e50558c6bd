"""The request stage: a message's readings, by rule."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from models.questions.render import render
from models.questions.types import AnswerError
from serve_app.asking.call import Ask, Call, Reply
from serve_app.asking.stage import Clock, answered
from serve_app.message import Message
from serve_app.outcome import Coverage
from serve_app.reading import NOT_ARISING, Reading, Readings
from serve_app.scan.coverage import reading_of as scanned_reading
from serve_app.scan.coverage import reading_so_far
from serve_app.scan.scan import Scan
from serve_app.scan.speed import Speeds
from serve_app.scan.text import size_of
from serve_app.signals.answers import reading_of
from serve_app.signals.measured import MeasuredRule
from serve_app.signals.plan import LongInput, Part, Placed, SignalPlan
from serve_app.signals.rules import AskedRule
from serve_app.signals.scanning import RunningScan, WindowReader, was_computed
from serve_app.signals.states import has_earlier_turn

Refuses = Callable[[Readings], bool]
"""Whether readings refuse the request, whatever the rules say that are not read yet."""

Rng = Callable[[], float]
"""From 0 to 1."""

_LATE = Reading(reason=AnswerError.DEADLINE_EXCEEDED)
_Replies = dict[str, tuple[dict[Part, str], Reply]]


def measure(plan: SignalPlan, message: Message) -> Readings:
    """Rules without a model, read; ``None`` for the others (CFG-6)."""
    return [rule.read(message) if isinstance(rule, MeasuredRule) else None for rule in plan.rules]


@dataclass(frozen=True, slots=True)
class Asked:
    """``readings``: of every rule; ``None`` where the request was refused before its answer came.
    ``exchanges``: each call with its reply. ``coverage``: by place, of rules that read windows.
    ``refused``: the rest was not read, since the request is refused whatever it says (SCAN-5).
    """

    readings: Readings
    exchanges: Sequence[tuple[Call, Reply]]
    coverage: Mapping[int, Coverage] = field(default_factory=dict)
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Scanning:
    """What reading long inputs takes: chance, what calls have taken so far, and an early end."""

    rng: Rng
    speeds: Speeds
    refuses: Refuses


async def ask_signals(
    plan: SignalPlan,
    message: Message,
    measured: Readings,
    *,
    ask: Ask,
    clock: Clock,
    deadline_s: float,
    scanning: Scanning,
) -> Asked:
    """Asks the rules that ``measure`` left open, in one call per deployment (SIG-3).

    ``deadline_s``: seconds from now until the signal deadline (BUD-3).
    """
    deadline = clock() + deadline_s
    work = plan.work(message)
    turn = has_earlier_turn(message)
    calls = [(call.within(deadline - clock()), names) for call, names in work.calls]
    if not work.long:
        replies = await answered([call for call, _ in calls], ask, clock)
        readings = _readings(plan, measured, calls, replies, turn)
        exchanges = [(call, r) for (call, _), r in zip(calls, replies, strict=True)]
        return Asked(readings, exchanges)
    scans = [_scan(plan, one, scanning, deadline) for one in work.long]
    known = list(measured)

    def refuses() -> bool:
        known[:] = measured
        for one, i, place in _scanned(scans):
            found = one.scan.found(i)
            known[place] = reading_so_far(found, still=one.scan.needs(i))
        return scanning.refuses(known)

    windows = WindowReader(scans, ask, clock, deadline, refuses)
    windows.send()
    given = await _unless_refused(windows, answered([call for call, _ in calls], ask, clock))
    coverage = {place: one.scan.found(i).coverage for one, i, place in _scanned(scans)}
    if given is None:
        return Asked(known, windows.exchanges, coverage, refused=True)
    for one, i, place in _scanned(scans):
        known[place] = scanned_reading(one.scan.rules[i], one.scan.found(i))
    exchanges = [(call, reply) for (call, _), reply in zip(calls, given, strict=True)]
    for call, reply in exchanges:
        if was_computed(reply):
            size = sum(size_of(render(entry.state)) for entry in call.entries.values())
            scanning.speeds.of(call.deployment).measured(size, reply.elapsed_ms / 1000)
    readings = _readings(plan, known, calls, given, turn)
    return Asked(readings, [*windows.exchanges, *exchanges], coverage)


async def _unless_refused(
    windows: WindowReader, others: Coroutine[None, None, list[Reply]]
) -> list[Reply] | None:
    """The replies to the other calls; ``None`` where the windows refuse the request."""
    async with asyncio.TaskGroup() as group:
        replies = group.create_task(others)
        if await windows.read():
            replies.cancel()
            return None
        return await replies


def _scanned(scans: Sequence[RunningScan]) -> Iterator[tuple[RunningScan, int, int]]:
    """Each scan with its rules by their number in it and by their place."""
    for one in scans:
        for i, place in enumerate(one.rules):
            yield one, i, place


def _scan(plan: SignalPlan, long: LongInput, scanning: Scanning, deadline: float) -> RunningScan:
    sizes = plan.sizes[long.deployment]
    scan = Scan(
        long.text,
        sizes,
        [plan.scanned[place] for place in long.rules],
        point=scanning.rng(),
        speed=scanning.speeds.of(long.deployment),
        deadline=deadline,
    )
    return RunningScan(long.deployment, sizes, scan, long.rules)


def _readings(
    plan: SignalPlan,
    known: Readings,
    calls: Sequence[Placed],
    replies: Sequence[Reply],
    turn: bool,
) -> Readings:
    by_deployment = {
        call.deployment: (names, reply) for (call, names), reply in zip(calls, replies, strict=True)
    }
    readings: Readings = []
    for rule, reading in zip(plan.rules, known, strict=True):
        if reading is None:
            assert isinstance(rule, AskedRule)  # the others were measured
            reading = _read(rule, by_deployment, turn)
        readings.append(reading)
    return readings


def _read(rule: AskedRule, replies: _Replies, turn: bool) -> Reading:
    if rule.about_a_turn and not turn:
        return NOT_ARISING
    names, reply = replies[rule.deployment]
    if rule.timeout_s is not None and reply.elapsed_ms > rule.timeout_s * 1000:
        return _LATE
    name = names.get((rule.state, True)) if rule.viewed else None
    return reading_of(rule.question, reply.answers[name or names[rule.state, False]][rule.id])
