"""The graph against the bare engine, plain FastAPI and LitServe, in one run.

    python -m benchmarks.serving [--quick] [--rounds N] [--out FILE.json]

All contestants of an engine are started, and play in rounds: each at every number of callers, in
an order that changes from round to round, while the processes of the others stand still. Prints
the record as Markdown, the bars last. The exit status tells whether everything could be
measured, not whether a bar was met.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from benchmarks.harness import names
from benchmarks.harness.agreement import TOLERANCE, disagreement
from benchmarks.harness.command import add_record_options, numbers, run
from benchmarks.harness.contest import Arena, wait_until_calm
from benchmarks.harness.machine import describe
from benchmarks.harness.record import Contest, Record
from benchmarks.harness.report import render
from benchmarks.harness.statistics import Spread
from benchmarks.harness.verdicts import verdicts
from benchmarks.servers.engines import EngineName
from benchmarks.servers.lineup import BARE, FASTAPI, GRAPH, LITSERVE, Lineup
from benchmarks.servers.profile import ROOT, read_profile

POLICY = "policy"
PARTS = (BARE, FASTAPI, LITSERVE, GRAPH, POLICY)

TITLES = {EngineName.EMBEDDED: names.EMBEDDED, EngineName.FIXED: names.FIXED}
NOTES = {
    EngineName.EMBEDDED: "The shipped model and the questions of the shipped recipe.",
    EngineName.FIXED: "A stand-in for a GPU: a forward takes 50 ms, no CPU, and up to 16 rows.",
}


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.serving", description=(__doc__ or "").split("\n\n")[0]
    )
    add = parser.add_argument
    add("--rounds", type=int, default=7, help="rounds; an interval needs seven")
    add("--callers", type=numbers, default=[1, 4, 16, 64], help="such as 1,4,16,64")
    add("--seconds", type=float, default=3.0, help="measured time of one cell")
    add("--engine", choices=list(EngineName), action="append", help="may be repeated")
    add("--only", choices=PARTS, action="append", help="may be repeated")
    add("--dtype", choices=["float32", "bfloat16"], help="of the model, in every process")
    add("--seed", type=int, default=1, help="of the prompts")
    add("--wait", type=float, default=120.0, help="seconds to wait for a calm machine")
    add("--quick", action="store_true", help="two rounds of a second at 1, 16 and 64 callers")
    add("--graph-awake", action="store_true", help="do not stop Ray while others play")
    add_record_options(parser)
    chosen = parser.parse_args(words)
    if chosen.quick:
        chosen.rounds, chosen.seconds, chosen.callers = 2, 1.0, [1, 16, 64]
    return chosen


def main() -> None:
    def written(record: Record) -> dict[str, Any]:
        judged = [asdict(verdict) for verdict in verdicts(record)]
        return {**asdict(record), "verdicts": judged}

    run(options(), Record, measure, render, written)


def measure(chosen: argparse.Namespace, folder: Path) -> Record:
    """The whole run; the output of its servers is in ``folder``."""
    parts = chosen.only or list(PARTS)
    machine = describe()
    settings = {
        "cells": f"{chosen.rounds} rounds of {chosen.seconds:g} s",
        "number format": chosen.dtype or "as the shipped profile chooses",
        "others at the start": f"{wait_until_calm(chosen.wait):.0%} of the machine",
    }
    policy = _policy(folder) if POLICY in parts else {}
    contests = []
    for engine in chosen.engine or list(EngineName):
        if set(parts) - {POLICY}:
            contests.append(_contest(EngineName(engine), parts, chosen, folder, settings))
    return Record(
        date=date.today().isoformat(),
        command=shlex.join(["python", "-m", "benchmarks.serving", *sys.argv[1:]]),
        machine=machine,
        settings=settings,
        contests=tuple(contests),
        policy_ms=policy,
    )


def _contest(
    engine: EngineName,
    parts: Sequence[str],
    chosen: argparse.Namespace,
    folder: Path,
    settings: dict[str, str],
) -> Contest:
    with ExitStack() as stack:
        profile = read_profile()
        if chosen.dtype is not None:
            profile = profile.pinned(chosen.dtype)
        place = folder / engine
        place.mkdir()
        lineup = Lineup(engine, parts, profile, chosen.seed, place, stack)
        contestants, load = lineup.start()
        difference = disagreement(contestants, chosen.seed, profile.questions())
        if difference > TOLERANCE:
            raise RuntimeError(
                f"the fronts answer differently, by {difference:g}; if each process chooses its "
                "number format, fix it with --dtype"
            )
        settings[f"greatest difference of answers, {TITLES[engine]}"] = f"{difference:.1g}"
        graph = [c.group for c in contestants if c.name == names.SYSTEMONE]
        arena = Arena(contestants, load, awake=graph if chosen.graph_awake else ())
        arena.rest()
        idle = arena.measure_idle(chosen.seconds)
        arena.warm_up(chosen.callers, min(1.0, chosen.seconds))
        cells = []
        for number in range(chosen.rounds):
            cells += list(arena.round(number, chosen.callers, chosen.seconds))
            print(f"{TITLES[engine]}: round {number + 1} of {chosen.rounds}", file=sys.stderr)
    return Contest(TITLES[engine], NOTES[engine], tuple(cells), idle)


def _policy(folder: Path) -> dict[str, Spread]:
    """``benchmarks/policy.py`` in a process of its own, in milliseconds."""
    file = folder / "policy.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.policy", "--json", str(file)],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return {
        name: Spread(*(us / 1e3 for us in (p["p50_us"], p["lowest_us"], p["highest_us"])))
        for name, p in orjson.loads(file.read_bytes()).items()
        if isinstance(p, dict)
    }


if __name__ == "__main__":
    main()
