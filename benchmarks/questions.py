"""What many questions about one state cost: in one call, and in single calls.

    python -m benchmarks.questions [--engine inprocess] [--rounds N] [--out FILE.json]

The model alone in a process, and the shipped profile over HTTP with one caller, result cache off.
Each plays every round, in an order that changes, while the other stands still; all calls of a
round are in random order. Prints the record as Markdown. The exit status tells whether everything
could be measured, not whether a bar was met.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

from benchmarks.harness import counters, names
from benchmarks.harness.calls import Call, Calls
from benchmarks.harness.command import add_record_options, run
from benchmarks.harness.contest import Contestant, ForeignCpu, rotated, wait_until_calm
from benchmarks.harness.counters import Counters
from benchmarks.harness.curve import Cell, CurveRecord, cells
from benchmarks.harness.curve_report import curve_verdicts, render
from benchmarks.harness.machine import describe
from benchmarks.harness.plan import LENGTHS, SIZES, Plan, Texts
from benchmarks.harness.process_group import ProcessGroup
from benchmarks.harness.sequential import over_one_connection
from benchmarks.harness.worker import Worker
from benchmarks.servers.engines import EngineName
from benchmarks.servers.lineup import BARE, GRAPH, Lineup
from benchmarks.servers.profile import read_profile

INPROCESS = "inprocess"
SERVED = "served"
PARTS = {INPROCESS: BARE, SERVED: GRAPH}

REPEATS = {INPROCESS: 3, SERVED: 5}
"""Calls of each size in a round; the round's figure is their median."""

SINGLES = {
    INPROCESS: {Texts.KNOWN: 10, Texts.NEW: 10},
    SERVED: {Texts.KNOWN: max(SIZES), Texts.NEW: 10},
}
"""Questions that are also asked alone: fifty take most of a round."""

SETTLE_S = 0.3
"""What piled up in processes while they stood still is done in that time."""


@dataclass(slots=True)
class Player:
    """``ask`` makes calls in turn and returns their milliseconds; ``asked``: all calls made."""

    name: str
    group: ProcessGroup
    plan: Plan
    ask: Callable[[Sequence[Call]], list[float]]
    port: int | None = None
    asked: list[Call] = field(default_factory=list)

    def warm_up(self) -> None:
        self._make([play.call for play in self.plan.warm_up()])

    def round(self, number: int, groups: Sequence[ProcessGroup]) -> list[Cell]:
        plays = self.plan.round()
        self._make([play.call for play in self.plan.warm_up()])  # back in the processor's caches
        foreign = ForeignCpu(groups)
        times = self._make([play.call for play in plays])
        return cells(self.name, number, plays, times, foreign.share())

    def _make(self, calls: Sequence[Call]) -> list[float]:
        self.asked += calls
        return self.ask(calls)


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.questions", description=(__doc__ or "").split("\n\n")[0]
    )
    add = parser.add_argument
    add("--rounds", type=int, default=7, help="rounds; an interval needs seven")
    add("--engine", choices=list(PARTS), action="append", help="may be repeated")
    add("--seed", type=int, default=1, help="of texts and order")
    add("--wait", type=float, default=30.0, help="seconds to wait for a calm machine")
    add_record_options(parser)
    return parser.parse_args(words)


def main() -> None:
    def written(record: CurveRecord) -> dict[str, Any]:
        judged = [asdict(verdict) for verdict in curve_verdicts(record)]
        return {**asdict(record), "verdicts": judged}

    run(options(), CurveRecord, measure, render, written)


def measure(chosen: argparse.Namespace, folder: Path) -> CurveRecord:
    """The whole run; the output of its servers is in ``folder``."""
    parts = chosen.engine or list(PARTS)
    machine = describe()
    settings = {
        "rounds": f"{chosen.rounds}, calls of each size in a round: "
        + ", ".join(f"{REPEATS[part]} {part}" for part in parts),
        "others at the start": f"{wait_until_calm(chosen.wait):.0%} of the machine",
        "states": f"{' and '.join(map(str, LENGTHS))} tokens by the model's tokenizer, all new",
    }
    found: list[Cell] = []
    with ExitStack() as stack:
        lineup = Lineup(
            EngineName.EMBEDDED,
            [PARTS[part] for part in parts],
            read_profile(),
            chosen.seed,
            folder,
            stack,
        )
        contestants, load = lineup.start()
        players = [p for c in contestants if (p := _player(c, chosen.seed)) is not None]
        groups = [load, *(player.group for player in players)]
        for player in players:
            player.warm_up()
            player.group.pause()
        for number in range(chosen.rounds):
            for player in rotated(players, number):
                player.group.resume()
                sleep(SETTLE_S)
                found += player.round(number, groups)
                player.group.pause()
            print(f"round {number + 1} of {chosen.rounds}", file=sys.stderr)
        for player in players:
            player.group.resume()
            if player.port is not None:
                counters.expect(player.port, Counters.computed(player.asked))
                settings["counted by the router's model"] = str(counters.read(player.port))
    return CurveRecord(
        date=date.today().isoformat(),
        command=shlex.join(["python", "-m", "benchmarks.questions", *sys.argv[1:]]),
        machine=machine,
        settings=settings,
        cells=tuple(found),
    )


def _player(contestant: Contestant, seed: int) -> Player | None:
    """``None`` for what is no part of this benchmark."""
    group, contents = contestant.group, Calls(seed)
    if contestant.name == names.BARE and isinstance(group, Worker):
        plan = Plan(REPEATS[INPROCESS], SINGLES[INPROCESS], Random(seed))
        return Player(names.BARE, group, plan, lambda calls: _in_process(group, seed, calls))
    if contestant.name == names.SYSTEMONE and contestant.front is not None:
        port = contestant.front.port
        plan = Plan(REPEATS[SERVED], SINGLES[SERVED], Random(seed))
        return Player(
            names.SYSTEMONE,
            group,
            plan,
            lambda calls: over_one_connection(port, contents, calls),
            port,
        )
    return None


def _in_process(worker: Worker, seed: int, calls: Sequence[Call]) -> list[float]:
    result = worker.ask({"what": "calls", "seed": seed, "calls": [asdict(call) for call in calls]})
    if result.failed:
        raise RuntimeError(f"{result.failed} calls went wrong in process")
    return result.latencies_ms


if __name__ == "__main__":
    main()
