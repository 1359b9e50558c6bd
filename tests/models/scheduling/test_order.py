"""Who is computed next. SRV-6"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.engine import Row
from models.scheduling.settings import Budget, Settings
from tests.doubles.bench import Bench

SHORT = "s"
WINDOW = "w" * 4000


def test_the_earlier_of_two_like_calls_goes_first(make_bench: Any) -> None:
    bench = make_bench(Settings(Budget(rows=1)))
    bench.ask("first")
    bench.ask("second")
    bench.drain()
    assert bench.forwards == [["first"], ["second"]]


def test_a_short_row_goes_before_a_long_one_that_came_with_it(make_bench: Any) -> None:
    bench = make_bench()
    bench.ask(WINDOW)
    bench.ask(SHORT)
    bench.drain()
    assert bench.forwards == [[SHORT], [WINDOW]]


@pytest.mark.parametrize("speed_s", [1e-5, 1e-3])
def test_a_short_question_waits_for_one_window_of_a_scan_in_one_call(
    make_bench: Any, speed_s: float
) -> None:
    """However far the scan has come, and however wrong the expected speed is."""
    bench = make_bench(Settings(patience_s=1e9, max_queue_s=1e9), speed_s)
    bench.ask(*(f"{i:02}{WINDOW}" for i in range(40)))
    for i in range(12):
        window = bench.start()
        bench.now += 0.5
        bench.ask(f"{SHORT}{i}")
        bench.finish(window)
        assert bench.step()
        assert bench.forwards[-1] == [f"{SHORT}{i}"]


@pytest.mark.parametrize("parallel", [1, 4, 64])
def test_a_short_question_waits_for_one_window_of_a_scan_in_many_calls(
    make_bench: Any, parallel: int
) -> None:
    bench = make_bench(Settings(patience_s=1e9, max_queue_s=1e9), 1e-3)
    for i in range(parallel):
        bench.ask(f"{i:02}{WINDOW}")
    for i in range(40):
        window = bench.start()
        bench.now += 0.5
        bench.ask(f"{SHORT}{i}")
        bench.finish(window)
        bench.ask(f"{parallel + i:02}{WINDOW}")
        assert bench.step()
        assert bench.forwards[-1] == [f"{SHORT}{i}"]


def test_a_short_call_is_answered_in_the_midst_of_a_judgement_of_many(make_bench: Any) -> None:
    bench = make_bench(Settings(max_queue_s=1e9))
    bench.ask(*(f"entry {i}" for i in range(1000)))
    bench.step()
    bench.step()
    bench.ask("short")
    bench.step()
    assert "short" in bench.forwards[-1]


def test_a_window_is_computed_in_time_though_short_questions_never_end(make_bench: Any) -> None:
    bench = make_bench(speed_s=1e-3)
    bench.ask(WINDOW)
    passed_s = 0.0
    for i in range(1000):
        bench.ask(f"{SHORT}{i}")
        before = bench.now
        bench.step()
        if bench.forwards[-1] == [WINDOW]:
            break
        passed_s += bench.now - before
    assert bench.forwards[-1] == [WINDOW]
    assert passed_s <= 2.1


def test_a_row_above_the_budget_goes_alone(make_bench: Any) -> None:
    bench = make_bench(Settings(Budget(tokens=64)))
    bench.ask("a" * 500)
    bench.ask("b" * 500)
    bench.drain()
    assert [len(forward) for forward in bench.forwards] == [1, 1]


def test_rows_of_one_length_share_a_forward_up_to_the_budget(make_bench: Any) -> None:
    bench = make_bench(Settings(Budget(tokens=96)))
    bench.ask("a", "b", "c", "d")
    bench.drain()
    assert bench.forwards == [["a", "b", "c"], ["d"]]


@dataclass(frozen=True)
class Pieces:
    """A row of several pieces of 100 tokens: of one bucket whatever its cost."""

    row: Row
    cost: int
    bucket: int = 100
    tokens: int = 1


def test_a_row_that_does_not_fit_leaves_room_for_a_smaller_one_and_is_next(
    make_bench: Any,
) -> None:
    bench = make_bench(Settings(Budget(tokens=2000)))
    costs = (1500, 1000, 500)
    for item, cost in zip(bench.submit("first", "large", "small").unread, costs, strict=True):
        bench.scheduler.prepared(item, Pieces(item.row, cost), 0.0)
    bench.drain()
    assert bench.forwards == [["first", "small"], ["large"]]


def test_rows_of_different_lengths_never_share_a_forward(make_bench: Any) -> None:
    bench = make_bench()
    bench.ask("a", "b" * 200, "c", "d" * 200)
    bench.drain()
    assert sorted(map(sorted, bench.forwards)) == [["a", "c"], ["b" * 200, "d" * 200]]


traffic = st.lists(
    st.tuples(st.sampled_from([1, 200, 4000, 30_000]), st.floats(0, 0.4)), min_size=8, max_size=60
)


@given(traffic, st.sampled_from([1, 8]), st.sampled_from([5e-4, 2e-3]))
def test_no_call_is_overtaken_once_that_took_two_seconds(
    arrivals: list[tuple[int, float]], limit: int, speed_s: float
) -> None:
    """Overtaken: a forward is formed for a row that came later, while this one waits."""
    bench = Bench(Settings(Budget(rows=limit), max_calls=1000, max_queue_s=1e9), speed_s)
    overtaken_s: dict[str, float] = {}
    coming = [(f"{i:03}" + "x" * size, gap) for i, (size, gap) in enumerate(arrivals)]
    due = 0.0
    while coming or overtaken_s:
        while coming and (due + coming[0][1] <= bench.now or not overtaken_s):
            state, gap = coming.pop(0)
            due += gap
            bench.now = max(bench.now, due)
            bench.ask(state)
            overtaken_s[state] = 0.0
        forward = bench.start()
        assert forward is not None
        before = bench.now
        bench.finish(forward)
        for row in forward.rows:
            del overtaken_s[row.row.state]
        head = forward.rows[0].row.state[:3]
        for state in overtaken_s:
            if state[:3] < head:
                assert overtaken_s[state] < 2.0
                overtaken_s[state] += bench.now - before
