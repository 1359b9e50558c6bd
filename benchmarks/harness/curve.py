"""The cost of many questions about one state, as a run measured it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.harness.plan import LENGTHS, Play, Texts
from benchmarks.harness.statistics import Mean, Ratio, Spread, paired_ratio


@dataclass(frozen=True, slots=True)
class Cell:
    """One contestant, one length of state and known or new question texts in one round.

    Milliseconds: ``together`` has the calls of each number of questions, ``alone`` the single
    call of each question in turn, in the order in which they are asked together. ``foreign``:
    the share of the machine that others used meanwhile.
    """

    contestant: str
    texts: Texts
    tokens: int
    round: int
    together: Mapping[int, Sequence[float]]
    alone: Sequence[float]
    foreign: float = 0.0

    def one_call(self, size: int) -> float:
        return median(self.together[size])

    def single_calls(self, size: int) -> float:
        """The same questions in a call each: as many times the median of those calls, for the
        sum would hold every interruption by others, which ``one_call`` leaves out."""
        return size * median(self.alone[:size])

    def further(self, size: int) -> float:
        """What each question after the first adds to a call of ``size``, on average."""
        return (self.one_call(size) - self.one_call(1)) / (size - 1)


@dataclass(frozen=True, slots=True)
class Point:
    """``size`` questions, over the rounds.

    ``single`` and ``ratio``, of single calls to one call, are ``None`` where those were not made.
    ``further``: milliseconds that each question after the first adds, ``share``: of a call of one
    question; ``None`` for one question.
    """

    size: int
    one: Spread
    single: Spread | None = None
    ratio: Ratio | None = None
    further: Spread | None = None
    share: Mean | None = None


@dataclass(frozen=True, slots=True)
class CurveRecord:
    """One run. ``machine`` and ``settings``: name -> text."""

    date: str
    command: str
    machine: Mapping[str, str]
    settings: Mapping[str, str]
    cells: tuple[Cell, ...]

    @property
    def contestants(self) -> list[str]:
        return list(dict.fromkeys(cell.contestant for cell in self.cells))

    def of(self, contestant: str, texts: Texts, tokens: int) -> list[Cell]:
        """Its cells in the order of the rounds."""
        key = contestant, texts, tokens
        return [c for c in self.cells if (c.contestant, c.texts, c.tokens) == key]

    def curve(self, contestant: str, texts: Texts, tokens: int) -> dict[int, Point]:
        """A point for each number of questions of a call."""
        cells = self.of(contestant, texts, tokens)
        return {size: point(cells, size) for size in (cells[0].together if cells else ())}


def point(cells: Sequence[Cell], size: int) -> Point:
    ones = [cell.one_call(size) for cell in cells]
    made = all(size <= len(cell.alone) for cell in cells)
    singles = [cell.single_calls(size) for cell in cells] if made else []
    further = [cell.further(size) for cell in cells] if size > 1 else []
    shares = [f / cell.one_call(1) for f, cell in zip(further, cells, strict=False)]
    return Point(
        size,
        Spread.of(ones),
        single=Spread.of(singles) if singles else None,
        ratio=paired_ratio(singles, ones) if singles else None,
        further=Spread.of(further) if further else None,
        share=Mean.of(shares) if shares else None,
    )


def cells(
    contestant: str, number: int, plays: Sequence[Play], times_ms: Sequence[float], foreign: float
) -> list[Cell]:
    """Round ``number``: its plays, and the time of each in their order."""
    timed = list(zip(plays, times_ms, strict=True))
    return [
        Cell(
            contestant,
            texts,
            tokens,
            number,
            *_times([t for t in timed if (t[0].texts, t[0].call.tokens) == (texts, tokens)]),
            foreign,
        )
        for texts in Texts
        for tokens in LENGTHS
    ]


def _times(timed: Sequence[tuple[Play, float]]) -> tuple[dict[int, list[float]], list[float]]:
    """Calls by their number of questions, fewest first, and single calls by place."""
    together: dict[int, list[float]] = {}
    alone: dict[int, float] = {}
    for play, ms in timed:
        if play.alone is None:
            together.setdefault(len(play.call.questions), []).append(ms)
        else:
            alone[play.alone] = ms
    return dict(sorted(together.items())), [alone[place] for place in sorted(alone)]
