"""A report on a terminal: SRV-19."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from models.evaluation.report import ENOUGH, Report, evaluate
from serve_app.evaluation.view import report_view
from tests.doubles.judged import error, noul, spans


def shown(report: Report) -> str:
    """Without line breaks and columns."""
    console = Console(file=StringIO(), width=80, color_system=None)
    console.print(report_view(report))
    assert isinstance(console.file, StringIO)
    return " ".join(console.file.getvalue().split())


def test_every_figure_has_its_interval_and_its_method() -> None:
    text = shown(evaluate([noul(0.9, True), noul(0.2, False), noul(0.6, False)]))
    assert "noul at 0.5" in text
    assert "3 answers" in text
    assert "0.667 0.208 to 0.939 wilson" in text
    assert "bootstrap" in text
    assert "resamples of answers" in text


def test_errors_stand_beside_the_figures() -> None:
    text = shown(evaluate([noul(0.9, True), error(), error()]))
    assert "2 unavailable" in text
    assert "answered" in text
    assert "–" in text  # one truth has no AUC


def test_groups_and_tags_are_told() -> None:
    judged = [noul(0.9, True, cluster=i // 2, tags=("de",)) for i in range(4)]
    text = shown(evaluate(judged, by="tag"))
    assert "4 answers, 2 groups" in text
    assert "By tag" in text
    assert "whole groups" in text


def test_the_mean_auc_names_its_nouls() -> None:
    judged = [noul(0.9 if i % 2 else 0.1, bool(i % 2), id="attack") for i in range(ENOUGH)]
    assert "Mean AUC of attack: 1.000" in shown(evaluate(judged))


def test_figures_by_label_are_shown_and_markup_is_not_read() -> None:
    text = shown(evaluate([spans([("GPE", 0, 3, 0.9)], [("GPE", 0, 3)]), noul(1, True, id="[b]x")]))
    assert "f1.GPE" in text
    assert "[b]x" in text
