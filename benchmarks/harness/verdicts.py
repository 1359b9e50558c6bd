"""The bars of the main path, and whether a run meets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from benchmarks.harness.names import (
    BARE,
    EMBEDDED,
    FASTAPI,
    FIXED,
    LITSERVE,
    PREVIEW,
    ROUTE,
    SYSTEMONE,
)
from benchmarks.harness.record import Contest, Record
from benchmarks.harness.statistics import Spread, paired_ratio

Figure: TypeAlias = Literal["rate", "p50", "p99"]

ROUNDS_FOR_AN_INTERVAL: Final = 7


@dataclass(frozen=True, slots=True)
class Verdict:
    """``value`` against ``bar``: at least it where ``floor``, else at most it.

    ``low`` and ``high``: the 95 % interval of a paired ratio, the extremes over the rounds of
    anything else.
    """

    what: str
    value: float
    low: float
    high: float
    bar: float
    floor: bool
    rounds: int

    @property
    def met(self) -> bool:
        return self.value >= self.bar if self.floor else self.value <= self.bar

    @property
    def certain(self) -> bool:
        """Whether all of ``low`` to ``high`` lies on the value's side of the bar."""
        if self.floor:
            return self.low >= self.bar if self.met else self.high < self.bar
        return self.high <= self.bar if self.met else self.low > self.bar


def verdicts(record: Record) -> list[Verdict]:
    """Every bar that the run measured, in the order of the tables."""
    found: list[Verdict] = []
    if (contest := record.contest(EMBEDDED)) is not None:
        found += _embedded(contest)
    if (contest := record.contest(FIXED)) is not None:
        found += _fixed(contest)
    if (p50 := record.policy_ms.get(ROUTE)) is not None:
        what = "policy alone, 20 rules, p50 ms"
        found.append(Verdict(what, p50.median, p50.low, p50.high, 0.3, False, 1))
    return found


def _embedded(contest: Contest) -> Iterator[Verdict]:
    for name, bar in ((PREVIEW, 1.9), (SYSTEMONE, 1.6)):
        yield from _ratio(contest, name, BARE, "p50", 1, bar, floor=False)
    for name, bar in ((SYSTEMONE, 1.3), (PREVIEW, 0.95)):
        yield from _ratio(contest, name, FASTAPI, "rate", 16, bar, floor=True)


def _fixed(contest: Contest) -> Iterator[Verdict]:
    rival = best_litserve(contest, 64)
    for name in (SYSTEMONE, PREVIEW):
        yield from _ratio(contest, name, FASTAPI, "rate", 64, 10, floor=True)
        if rival is not None:
            yield from _ratio(contest, name, rival, "rate", 64, 0.95, floor=True)
            yield from _ratio(contest, name, rival, "p99", 64, 1.0, floor=False)
    if cells := contest.of(PREVIEW, 16):
        cpu = Spread.of([cell.own_cpu_ms for cell in cells])
        what = "CPU ms of all Serve processes per preview, 16 callers"
        yield Verdict(what, cpu.median, cpu.low, cpu.high, 3.5, False, len(cells))


def best_litserve(contest: Contest, callers: int) -> str | None:
    """The batch timeout with the highest median rate."""
    rivals = [name for name in contest.contestants if name.startswith(LITSERVE)]
    measured = [name for name in rivals if contest.of(name, callers)]
    return max(
        measured,
        key=lambda name: median(cell.rate for cell in contest.of(name, callers)),
        default=None,
    )


def _ratio(
    contest: Contest,
    name: str,
    other: str,
    figure: Figure,
    callers: int,
    bar: float,
    *,
    floor: bool,
) -> Iterator[Verdict]:
    """Rounds that both played, paired; the bare forward always has one caller."""
    ours: dict[int, float] = {
        cell.round: getattr(cell, figure) for cell in contest.of(name, callers)
    }
    theirs: dict[int, float] = {
        cell.round: getattr(cell, figure) for cell in contest.of(other, callers)
    }
    rounds = sorted(ours.keys() & theirs.keys())
    if rounds:
        ratio = paired_ratio([ours[r] for r in rounds], [theirs[r] for r in rounds])
        people = "1 caller" if callers == 1 else f"{callers} callers"
        what = f"{figure}, {name} ÷ {other}, {people}"
        yield Verdict(what, ratio.mean, ratio.low, ratio.high, bar, floor, ratio.rounds)
