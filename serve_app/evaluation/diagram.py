"""Reliability diagrams: what was claimed against what came true."""

from __future__ import annotations

from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final

from models.evaluation.report import Report, TypeRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES: Final = 3.6
_AREA: Final = 260.0
"""Of the point of the fullest bin of a panel, in square points."""

_BLUE: Final = "#2a6f97"


def can_draw() -> bool:
    """Matplotlib is an extra: only this needs it."""
    return find_spec("matplotlib") is not None


def draw(report: Report, path: Path) -> None:
    """Writes a PNG with a panel per question type that has probabilities. A point is a bin of
    equal mass, its area and number the claims in it; on the diagonal they mean what they say.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no display, no global state
    from matplotlib.figure import Figure

    rows = [row for row in report.types if row.bins]
    columns = max(1, len(rows))
    figure = Figure(figsize=(_INCHES * columns, _INCHES + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, columns, squeeze=False)[0]
    for axes, row in zip(panels, rows, strict=False):
        _panel(axes, row)
    if rows:
        panels[0].set_ylabel("observed share")
    else:
        panels[0].set_axis_off()
        panels[0].text(0.5, 0.5, "no probabilities", ha="center", va="center")
    figure.savefig(path, dpi=150, format="png")


def _panel(axes: Axes, row: TypeRow) -> None:
    most = max(one.count for one in row.bins)
    axes.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color="0.6", zorder=1)
    claimed = [one.claimed for one in row.bins]
    observed = [one.observed for one in row.bins]
    axes.plot(claimed, observed, linewidth=1, color=_BLUE, zorder=2)
    areas = [_AREA * one.count / most for one in row.bins]
    axes.scatter(claimed, observed, s=areas, color=_BLUE, alpha=0.55, linewidths=0, zorder=3)
    for one, area in zip(row.bins, areas, strict=True):
        above = one.observed < 0.85  # a number must not leave the panel
        axes.annotate(
            str(one.count),
            (one.claimed, one.observed),
            xytext=(0, (1 if above else -1) * (sqrt(area) / 2 + 2)),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=7,
            color="0.25",
        )
    ece = "" if row.ece.value is None else f", ECE {row.ece.value:.3f}"
    axes.set_title(f"{row.type.value}: {row.claims} claims{ece}", fontsize=10)
    axes.set_xlabel("claimed probability")
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-0.04, 1.04)
    axes.set_aspect("equal")
    axes.grid(color="0.93", linewidth=0.8)
    axes.set_axisbelow(True)
