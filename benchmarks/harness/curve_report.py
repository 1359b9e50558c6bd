"""A record of the cost of questions as Markdown, with its bars."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness.curve import CurveRecord, Point
from benchmarks.harness.markdown import number, pairs, spread, table
from benchmarks.harness.names import BARE, SYSTEMONE
from benchmarks.harness.plan import LENGTHS, Texts
from benchmarks.harness.report import render_verdicts
from benchmarks.harness.statistics import Mean, Ratio
from benchmarks.harness.verdicts import Verdict

SIX_AT_ONCE = {400: 4.0, 30: 3.0}
"""Tokens of the state -> how many times the time of one call six single calls take at least."""

TENTH = 5.0
"""COST-2: the most that the tenth question costs of the first, on 400 tokens, in percent.

Every further question of a call costs alike, for it is scored by itself; so the second to the
tenth stand for the tenth. The difference of a call of ten and one of nine is lost in noise.
"""

NOTES = {
    Texts.KNOWN: (
        "The same fifty questions in every call, as a configuration asks them: the model keeps "
        "the vectors of their texts, and computes the state and the scores."
    ),
    Texts.NEW: (
        "No question text stands in two calls, the worst case: the model also encodes the text "
        "of every noul, and of every option and level."
    ),
}

HEAD = (
    *("questions", "one call, ms", "single calls, ms", "single calls ÷ one call"),
    *("each further question, ms", "÷ the first"),
)


def render(record: CurveRecord) -> str:
    """Machine, bars, then a table per contestant, length of state and kind of texts."""
    lines = [f"## {record.date}", "", "```", record.command, "```", ""]
    lines += pairs(record.machine) + pairs(record.settings)
    lines += ["", "### Bars", "", render_verdicts(curve_verdicts(record))]
    for contestant in record.contestants:
        for texts in Texts:
            for tokens in LENGTHS:
                title = f"{contestant}, {tokens} tokens, question texts {texts}"
                rows = [_row(p) for p in record.curve(contestant, texts, tokens).values()]
                foreign = max(c.foreign for c in record.of(contestant, texts, tokens))
                lines += ["", f"### {title[0].upper()}{title[1:]}", "", *table(HEAD, rows)]
                lines += ["", f"Foreign CPU: {foreign:.0%}. {NOTES[texts]}"]
    return "\n".join(lines) + "\n"


def curve_verdicts(record: CurveRecord) -> list[Verdict]:
    """Every bar that the run measured. They are about question texts that the model knows."""
    return [*_six_at_once(record), *_tenth(record)]


def _six_at_once(record: CurveRecord) -> Iterator[Verdict]:
    for tokens, bar in SIX_AT_ONCE.items():
        six = record.curve(SYSTEMONE, Texts.KNOWN, tokens).get(6)
        if six is not None and (ratio := six.ratio) is not None:
            what = f"six single calls ÷ one call of six, {SYSTEMONE}, {tokens} tokens"
            yield Verdict(what, ratio.mean, ratio.low, ratio.high, bar, True, ratio.rounds)


def _tenth(record: CurveRecord) -> Iterator[Verdict]:
    for contestant in (BARE, SYSTEMONE):
        ten = record.curve(contestant, Texts.KNOWN, 400).get(10)
        if ten is not None and (share := ten.share) is not None:
            what = f"second to tenth question, each, % of the first, {contestant}, 400 tokens"
            rounds = len(record.of(contestant, Texts.KNOWN, 400))
            percent = (100 * x for x in (share.mean, share.low, share.high))
            yield Verdict(what, *percent, TENTH, False, rounds)


def _row(point: Point) -> tuple[str, ...]:
    return (
        str(point.size),
        spread(point.one),
        "–" if point.single is None else spread(point.single),
        "–" if point.ratio is None else _interval(point.ratio),
        "–" if point.further is None else spread(point.further),
        "–" if point.share is None else _interval(point.share, percent=True),
    )


def _interval(found: Ratio | Mean, *, percent: bool = False) -> str:
    """The mean and its 95 % interval."""
    low, mean, high = (
        f"{100 * x:.2f}" if percent else number(x) for x in (found.low, found.mean, found.high)
    )
    return f"{mean} [{low}, {high}]" + (" %" if percent else "")
