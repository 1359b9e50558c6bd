"""The Markdown of a record."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from benchmarks.harness.names import BARE, EMBEDDED, PREVIEW
from benchmarks.harness.record import Cell, Contest, Record
from benchmarks.harness.report import render, render_verdicts
from benchmarks.harness.statistics import Spread
from benchmarks.harness.verdicts import Verdict


def cell(
    contestant: str, round: int, p50: float, cpu_ms: Mapping[str, float] | None = None
) -> Cell:
    return Cell(contestant, 1, round, 50, round, 123.4, p50, 20.0, 30.0, cpu_ms or {}, 0.5)


RECORD = Record(
    date="2026-01-02",
    command="python -m benchmarks.serving",
    machine={"processor": "two cores"},
    settings={"rounds": "2"},
    contests=(
        Contest(
            EMBEDDED,
            "A note.",
            (
                cell(BARE, 0, 10.0),
                cell(BARE, 1, 10.0),
                cell(PREVIEW, 0, 15.0, {"raylet": 0.001, "haproxy": 0.25, "Ingress": 3.0}),
                cell(PREVIEW, 1, 17.0, {"raylet": 0.001, "haproxy": 0.75, "Ingress": 4.0}),
            ),
            {PREVIEW: 0.1234},
        ),
    ),
)


def rows(markdown: str, first: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith(f"| {first} |")]
    return [[word.strip() for word in line.strip("|").split("|")] for line in lines]


def test_a_row_gives_medians_and_extremes_over_the_rounds() -> None:
    (row,) = rows(render(RECORD), PREVIEW)
    assert row[1:] == [
        *("123", "16.0 (15.0–17.0)", "20.0", "30.0"),
        *("4.00 (3.25–4.75)", "0.50", "100", "1", "0%"),
    ]


def test_cpu_is_shown_by_process_largest_first_and_without_crumbs() -> None:
    text = render(RECORD)
    assert "- graph, preview; 0.12 processors busy when idle" in text
    assert "  - 1 caller: Ingress 3.50, haproxy 0.50\n" in text


def test_the_policy_has_a_table_of_its_own() -> None:
    text = render(replace(RECORD, policy_ms={"route": Spread(0.2, 0.1, 0.25)}))
    assert rows(text, "route") == [["route", "0.20 (0.10–0.25)"]]


def test_machine_command_and_settings_stand_in_the_record() -> None:
    text = render(RECORD)
    for part in ("2026-01-02", "python -m benchmarks.serving", "two cores", "rounds: 2"):
        assert part in text


@pytest.mark.parametrize(
    ("value", "interval", "rounds", "word"),
    [
        (1.4, (1.35, 1.5), 7, "yes"),
        (1.4, (1.2, 1.5), 7, "yes, uncertain"),
        (1.2, (1.1, 1.4), 7, "**no**, uncertain"),
        (1.2, (1.1, 1.25), 7, "**no**"),
        (1.4, (1.35, 1.5), 3, "yes, too few rounds"),
    ],
)
def test_a_verdict_says_whether_its_interval_agrees(
    value: float, interval: tuple[float, float], rounds: int, word: str
) -> None:
    verdict = Verdict("x", value, *interval, 1.3, True, rounds)
    (row,) = rows(render_verdicts([verdict]), "x")
    low, high = interval
    assert row == ["x", f"{value:.2f}", f"{low:.2f} – {high:.2f}", "≥ 1.3", word, str(rounds)]


def test_a_run_without_bars_says_so() -> None:
    assert render_verdicts([]) == "No bar was measured."
