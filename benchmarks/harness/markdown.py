"""The pieces that a record is written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.harness.statistics import Spread


def pairs(values: Mapping[str, str]) -> list[str]:
    return [f"- {name}: {text}" for name, text in values.items()]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The first column is text, the others are numbers."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in (head, ruler, *rows)]


def spread(values: Spread) -> str:
    if values.low == values.high:
        return number(values.median)
    return f"{number(values.median)} ({number(values.low)}–{number(values.high)})"


def number(value: float) -> str:
    """Three significant digits, no exponent."""
    if value != value or value in (float("inf"), float("-inf")):
        return "–"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}"
