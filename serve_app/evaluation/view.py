"""A report as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from models.evaluation.intervals import Estimate
from models.evaluation.report import Report, Row, TypeRow


def report_view(report: Report) -> RenderableType:
    """Figures by question, by tag where asked for, and calibration by type."""
    parts: list[RenderableType] = [_rows("Questions", report.rows)]
    if report.by_tag:
        parts.append(_rows("By tag", report.by_tag))
    parts += [_types(report.types), Text(_footnote(report), style="dim")]
    if report.mean_auc is not None:
        parts.append(Text(f"Mean AUC of {', '.join(report.skilled)}: {report.mean_auc:.3f}"))
    return Group(*parts)


def _rows(title: str, rows: Sequence[Row]) -> Table:
    """A line per figure; what the answers are stands beside the first ones."""
    table = _table(title, "question", "figure")
    for row in rows:
        figures = [(name, e) for name, e in row.figures.items() if name != "answered" or row.errors]
        for fact, figure in zip_longest(_facts(row), figures):
            name, estimate = figure or ("", None)
            table.add_row(fact or Text(""), Text(name), *_cells(estimate))
        table.add_section()
    return table


def _facts(row: Row) -> list[Text]:
    kind = row.type.value
    if row.thresholds:
        kind += f" at {', '.join(f'{threshold:g}' for threshold in row.thresholds)}"
    groups = "" if row.groups is None else f", {row.groups} groups"
    return [
        Text(row.id, style="bold"),
        *([] if row.tag is None else [Text(f"  {row.tag}")]),
        Text(f"  {kind}"),
        Text(f"  {row.answers} answers{groups}"),
        *(Text(f"  {n} {reason}", style="yellow") for reason, n in row.errors.items()),
    ]


def _table(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column(names[0], overflow="fold")
    for name in names[1:]:
        table.add_column(name, overflow="fold")
    for name in ("value", "95 %", "by"):
        table.add_column(name, no_wrap=True)
    return table


def _types(rows: Iterable[TypeRow]) -> Table:
    table = _table("Calibration (ECE)", "type", "answers", "claims")
    for row in rows:
        table.add_row(row.type.value, str(row.answers), str(row.claims), *_cells(row.ece))
    return table


def _cells(estimate: Estimate | None) -> tuple[Text, Text, Text]:
    if estimate is None:
        return Text(""), Text(""), Text("")
    if estimate.value is None:
        return Text("–"), Text(""), Text("")
    interval = ""
    if estimate.low is not None and estimate.high is not None:
        interval = f"{estimate.low:.3f} to {estimate.high:.3f}"
    return Text(f"{estimate.value:.3f}"), Text(interval), Text(estimate.method or "", style="dim")


def _footnote(report: Report) -> str:
    grouped = any(row.groups is not None for row in report.rows)
    drawn = "whole groups" if grouped else "answers"
    return (
        f"Figures are of answers that are no errors. Intervals: wilson is the score interval of a "
        f"proportion; bootstrap the percentiles of {report.resamples} resamples of {drawn}."
    )
