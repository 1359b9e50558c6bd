"""The request stage: a message's readings, by rule."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from models.questions.render import render
from models.questions.types import AnswerError
from serve_app.asking.call import Ask, Call, Reply
from serve_app.asking.stage import Clock, Rng, answered
from serve_app.message import Message
from serve_app.outcome import Coverage
from serve_app.reading import NOT_ARISING, Reading, Readings, reading_of
from serve_app.scan.coverage import final_reading
from serve_app.scan.scan import Scan
from serve_app.scan.speed import Speeds
from serve_app.scan.text import size_of
from serve_app.signals.measured import MeasuredRule
from serve_app.signals.plan import LongInput, Part, Placed, SignalPlan
from serve_app.signals.rules import AskedRule
from serve_app.signals.scanning import RunningScan, WindowReader, was_computed
from serve_app.signals.states import has_earlier_turn

Refuses = Callable[[Readings], bool]
"""Whether readings refuse the request, whatever the rules say that are not read yet."""

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
    placed = [(call.within(deadline - clock()), names) for call, names in work.calls]
    calls = [call for call, _ in placed]
    if not work.long:
        replies = await answered(calls, ask, clock)
        readings = _readings(plan, measured, placed, replies, turn)
        return Asked(readings, list(zip(calls, replies, strict=True)))
    scans = [_scan(plan, one, scanning, deadline) for one in work.long]

    def so_far() -> Readings:
        known = list(measured)
        for one, i, place in _scanned(scans):
            known[place] = one.scan.reading_so_far(i)
        return known

    windows = WindowReader(scans, ask, clock, deadline, lambda: scanning.refuses(so_far()))
    windows.begin()
    given = await _unless_refused(windows, answered(calls, ask, clock))
    found = {place: one.scan.found(i) for one, i, place in _scanned(scans)}
    coverage = {place: of_rule.coverage for place, of_rule in found.items()}
    if given is None:
        return Asked(so_far(), windows.exchanges, coverage, refused=True)
    known = list(measured)
    for place, of_rule in found.items():
        known[place] = final_reading(plan.scanned[place], of_rule)
    exchanges = list(zip(calls, given, strict=True))
    _measure_speed(exchanges, scanning.speeds)
    readings = _readings(plan, known, placed, given, turn)
    return Asked(readings, [*windows.exchanges, *exchanges], coverage)


def _measure_speed(exchanges: Iterable[tuple[Call, Reply]], speeds: Speeds) -> None:
    """Calls about states of other sizes than a window's tell what a size costs (SCAN-9)."""
    for call, reply in exchanges:
        if was_computed(reply):
            size = sum(size_of(render(entry.state)) for entry in call.entries.values())
            speeds.of(call.deployment).measured(size, reply.elapsed_ms / 1000)


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
        parallel=sizes.max_parallel,
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
