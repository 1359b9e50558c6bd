"""Contestants, and the rounds they play in turn."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic, sleep
from typing import Final, TypeVar

from benchmarks.harness.bodies import Body
from benchmarks.harness.load import Job
from benchmarks.harness.proc import Reading, machine_busy_s, processes
from benchmarks.harness.process_group import ProcessGroup
from benchmarks.harness.record import Cell
from benchmarks.harness.result import Result
from benchmarks.harness.server import Server
from benchmarks.harness.statistics import percentile
from benchmarks.harness.worker import Worker
from models.questions.types import JsonValue

Player = TypeVar("Player")

MOST: Final = 6_000
"""Requests one cell may send: more than any contestant answers in the longest cell."""

CALM: Final = 0.1
"""Share of the machine that others may use when a measurement begins."""


@dataclass(frozen=True, slots=True)
class Front:
    """Where a contestant is asked over HTTP."""

    port: int
    path: str
    body: Body


@dataclass(frozen=True, slots=True)
class Contestant:
    """``play(callers, seconds, first)`` loads it with prompts from number ``first`` on.

    ``group``: the processes that are its own; several contestants may share one. ``only``: the
    one number of callers that it can have, ``None`` for any. ``front``: ``None`` in process.
    """

    name: str
    group: ProcessGroup
    play: Callable[[int, float, int], Result]
    only: int | None = None
    front: Front | None = None


def over_http(
    name: str, server: Server, path: str, body: Body, load: Worker, seed: int, questions: JsonValue
) -> Contestant:
    """A server's path, loaded by the load generator."""

    def play(callers: int, seconds: float, first: int) -> Result:
        job = Job(server.port, path, body, seed, first, callers, seconds, questions, most=MOST)
        return load.ask(job.fields())

    return Contestant(name, server, play, front=Front(server.port, path, body))


def in_process(name: str, worker: Worker, what: str, seed: int) -> Contestant:
    """A measurement that a worker makes inside itself, one call after the other."""

    def play(callers: int, seconds: float, first: int) -> Result:
        return worker.ask({"what": what, "seed": seed, "first": first, "seconds": seconds})

    return Contestant(name, worker, play, only=1)


@dataclass(slots=True)
class Arena:
    """Where the contestants of one engine meet: one has the machine, the others stand still.

    ``generator``: the load generator. ``idle``: processors that each group keeps busy without
    a request, measured before the first round. ``awake``: groups that are not stopped while
    others play. ``settle_s``: what piled up in a group while it stood still is done in that
    time and not measured.
    """

    contestants: Sequence[Contestant]
    generator: ProcessGroup
    awake: Collection[ProcessGroup] = ()
    settle_s: float = 0.3
    idle: dict[int, float] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(0, MOST))

    def rest(self) -> None:
        for group in self._groups():
            if group not in self.awake:
                group.pause()

    def measure_idle(self, seconds: float) -> Mapping[str, float]:
        """Busy processors by contestant while nobody asks anything."""
        for group in self._groups():
            with self._awake(group):
                before, started = group.reading(), monotonic()
                sleep(seconds)
                used = sum(group.reading().since(before).values())
                self.idle[id(group)] = used / (monotonic() - started)
        return {c.name: self.idle[id(c.group)] for c in self.contestants}

    def warm_up(self, callers: Sequence[int], seconds: float) -> None:
        """Everybody plays once at each number of callers, unrecorded."""
        for contestant in self.contestants:
            with self._awake(contestant.group):
                for number in callers if contestant.only is None else [contestant.only]:
                    contestant.play(number, seconds, next(self._numbers))

    def round(self, number: int, callers: Sequence[int], seconds: float) -> Iterator[Cell]:
        """Every contestant at every number of callers, in the order of that round."""
        for place, people in enumerate(callers):
            players = [c for c in self.contestants if c.only in (None, people)]
            for contestant in rotated(players, number + place):
                yield self._cell(contestant, people, number, seconds)

    def _cell(self, contestant: Contestant, callers: int, number: int, seconds: float) -> Cell:
        group = contestant.group
        with self._awake(group):
            before, helper = group.reading(), self.generator.reading()
            busy, own, started = machine_busy_s(), _own_s(), monotonic()
            result = contestant.play(callers, seconds, next(self._numbers))
            elapsed = monotonic() - started
            used = group.reading().since(before)
            helped = sum(self.generator.reading().since(helper).values())
        foreign = machine_busy_s() - busy - (_own_s() - own) - helped - sum(used.values())
        asked, times = result.sent, result.latencies_ms
        if not times:
            raise RuntimeError(f"{contestant.name} answered nothing; see {group.log}")
        return Cell(
            contestant=contestant.name,
            callers=callers,
            round=number,
            requests=len(times),
            failed=result.failed,
            rate=len(times) / result.seconds,
            p50=percentile(times, 0.5),
            p95=percentile(times, 0.95),
            p99=percentile(times, 0.99),
            cpu_ms={command: s * 1e3 / asked for command, s in used.items()},
            idle_cpu_ms=self.idle.get(id(group), 0.0) * elapsed * 1e3 / asked,
            generator_cpu_ms=helped * 1e3 / asked,
            foreign=max(0.0, foreign) / elapsed / (os.cpu_count() or 1),
        )

    def _groups(self) -> list[ProcessGroup]:
        return list({id(c.group): c.group for c in self.contestants}.values())

    @contextmanager
    def _awake(self, group: ProcessGroup) -> Iterator[None]:
        if group in self.awake:
            yield
            return
        group.resume()
        sleep(self.settle_s)
        try:
            yield
        finally:
            group.pause()


def rotated(players: Sequence[Player], turn: int) -> list[Player]:
    """The order of a turn: each begins with another one, and every other turn runs backwards."""
    start = turn % len(players)
    order = [*players[start:], *players[:start]]
    return order[::-1] if turn // len(players) % 2 else order


def foreign_share(seconds: float, own: Sequence[ProcessGroup]) -> float:
    """The share of the machine that processes outside of ``own`` use now."""
    mine = {p.identity for group in own for p in group.processes()}
    before = Reading.of(p for p in processes() if p.identity not in mine)
    sleep(seconds)
    used = Reading.of(p for p in processes() if p.identity in before.by_identity).since(before)
    return sum(used.values()) / seconds / (os.cpu_count() or 1)


def wait_until_calm(limit_s: float) -> float:
    """Waits until others leave the machine alone; the share that they use then."""
    end = monotonic() + limit_s
    while (share := foreign_share(1.0, ())) > CALM and monotonic() < end:
        print(f"others use {share:.0%} of the machine: waiting", file=sys.stderr)
    return share


class ForeignCpu:
    """What neither this process nor ``groups`` use of the machine, from now on."""

    def __init__(self, groups: Sequence[ProcessGroup]) -> None:
        self._groups = groups
        self._before = [group.reading() for group in groups]
        self._busy, self._own, self._started = machine_busy_s(), _own_s(), monotonic()

    def share(self) -> float:
        """Of all processors, since then."""
        elapsed = monotonic() - self._started
        foreign = machine_busy_s() - self._busy - (_own_s() - self._own)
        for group, before in zip(self._groups, self._before, strict=True):
            foreign -= sum(group.reading().since(before).values())
        return max(0.0, foreign) / elapsed / (os.cpu_count() or 1)


def _own_s() -> float:
    times = os.times()
    return times.user + times.system
