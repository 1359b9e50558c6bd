"""The Markdown and the bars of a record of questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.harness.curve import Cell, CurveRecord
from benchmarks.harness.curve_report import curve_verdicts, render
from benchmarks.harness.names import BARE, SYSTEMONE
from benchmarks.harness.plan import LENGTHS, Texts


def measured(contestant: str, slower: float) -> Iterator[Cell]:
    """A call of n questions takes ``tokens`` ms, and ``slower`` percent more for each further."""
    for texts in Texts:
        for tokens in LENGTHS:
            for number in range(7):
                once = tokens * (1 + number / 10)
                together = {n: [once * (1 + slower / 100 * (n - 1))] for n in (1, 6, 10, 50)}
                yield Cell(contestant, texts, tokens, number, together, [once] * 10, 0.03)


def record(slower: float) -> CurveRecord:
    found = (*measured(BARE, slower), *measured(SYSTEMONE, slower))
    return CurveRecord("2026-01-02", "the command", {"processor": "two"}, {"rounds": "7"}, found)


@pytest.mark.parametrize(
    ("slower", "met"),
    [
        (1, [True, True, True, True]),
        (6, [True, True, False, False]),
        (15, [False, True, False, False]),  # 6 ÷ 1.75 is between 3 and 4
        (25, [False, False, False, False]),
    ],
)
def test_the_bars_are_met_by_what_a_further_question_costs(slower: float, met: list[bool]) -> None:
    found = curve_verdicts(record(slower))
    assert [verdict.met for verdict in found] == met
    assert [verdict.value for verdict in found] == pytest.approx(
        [*[6 / (1 + slower / 20)] * 2, slower, slower]
    )


def test_each_curve_has_a_table_and_unmeasured_single_calls_a_dash() -> None:
    text = render(record(1))
    for contestant in ("Bare forward", "Graph, /v1/systemone"):
        for tokens in LENGTHS:
            for texts in ("known", "new"):
                assert f"### {contestant}, {tokens} tokens, question texts {texts}\n" in text
    row = next(line for line in text.splitlines() if line.startswith("| 50 |"))
    assert row.split(" | ")[2:4] == ["–", "–"]
    for part in ("2026-01-02", "the command", "processor: two", "rounds: 7", "Foreign CPU: 3%"):
        assert part in text


def test_a_run_of_the_model_alone_has_the_bar_of_the_model_alone() -> None:
    found = CurveRecord("", "", {}, {}, tuple(measured(BARE, 1)))
    (verdict,) = curve_verdicts(found)
    assert BARE in verdict.what
    assert (verdict.met, verdict.certain, verdict.rounds) == (True, True, 7)
