"""What a replica lets in. SRV-8"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import AnswerError, ErrorAnswer
from models.scheduling.messages import Refusal
from models.scheduling.settings import Budget, Settings
from models.scheduling.work import Ticket
from tests.doubles.bench import Bench
from tests.doubles.engines import CountedRow


def test_calls_count_until_they_are_answered_and_not_until_they_run(make_bench: Any) -> None:
    bench = make_bench(Settings(Budget(rows=1), max_calls=2))
    bench.ask("runs")
    forward = bench.start()
    bench.ask("waits")
    assert isinstance(bench.submit("third"), Refusal)
    bench.finish(forward)
    assert isinstance(bench.submit("third"), Ticket)


def test_a_call_above_the_bound_is_let_in_where_nothing_waits(make_bench: Any) -> None:
    bench = make_bench(Settings(max_queue_s=0.001))
    bench.ask("running")
    bench.start()
    ticket = bench.ask(*(f"entry {i}" for i in range(4096)))
    refused = bench.submit("one more")
    assert isinstance(refused, Refusal)
    assert refused.predicted_wait_s > 0.001
    bench.finish(bench.scheduler.running)
    bench.drain()
    assert len(ticket.reply.answers) == 4096


def test_calls_that_join_a_running_forward_are_bounded_too(make_bench: Any) -> None:
    bench = make_bench(Settings(max_calls=3))
    bench.ask("state")
    forward = bench.start()
    joined = [bench.submit("state") for _ in range(3)]
    assert [type(taken) for taken in joined] == [Ticket, Ticket, Refusal]
    assert bench.scheduler.waiting_rows == 0
    bench.finish(forward)
    assert isinstance(bench.submit("next"), Ticket)


def test_long_questions_count_before_they_are_read_and_not_once_they_are_known(
    make_bench: Any,
) -> None:
    bench = make_bench(Settings(max_queue_s=1.0))
    long = tuple(f"{i}" + "long " * 3_000 for i in range(10))
    bench.ask("running")
    bench.start()
    bench.ask("waits")
    assert isinstance(bench.submit("state", questions=long), Refusal)
    bench.finish(bench.scheduler.running)
    bench.drain()
    bench.ask("state", questions=long)
    bench.drain()
    bench.ask("waits again")
    assert isinstance(bench.submit("another state", questions=long), Ticket)


def test_a_refused_call_leaves_nothing_behind(make_bench: Any) -> None:
    bench = make_bench(Settings(Budget(rows=1), max_calls=1))
    bench.ask("first")
    assert isinstance(bench.submit("refused", "too"), Refusal)
    assert bench.scheduler.waiting_rows == 1
    bench.drain()
    assert bench.forwards == [["first"]]
    assert bench.scheduler.counts.refused == 1


def test_seconds_are_bounded_by_what_forwards_were_measured_to_take(make_bench: Any) -> None:
    bench = make_bench(Settings(Budget(rows=1, tokens=64), max_queue_s=1.0), speed_s=0.01)
    for i in range(60):
        bench.ask(f"measured {i}")
        bench.step()
    taken = 0
    while isinstance(bench.submit(f"state {taken}"), Ticket):
        taken += 1
    assert 2 <= taken <= 4, "rows of 0.32 s each"


def test_a_cached_call_is_answered_though_the_replica_is_full(make_bench: Any) -> None:
    bench = make_bench(Settings(max_calls=1))
    bench.ask("known")
    bench.drain()
    bench.ask("waits")
    ticket = bench.submit("known")
    assert isinstance(ticket, Ticket)
    assert ticket.reply is not None


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.integers(1, 5))
def test_a_call_is_admitted_whole_or_refused_whole(sizes: list[int], max_calls: int) -> None:
    bench = Bench(Settings(max_calls=max_calls))
    admitted, rows = [], 0
    for number, size in enumerate(sizes):
        taken = bench.submit(*(f"{number}/{i}" for i in range(size)))
        if isinstance(taken, Ticket):
            admitted.append((taken, number, size))
            rows += size
        assert bench.scheduler.waiting_rows == rows
    assert len(admitted) == min(max_calls, len(sizes))
    for ticket, _, _ in admitted:
        for item in ticket.unread:
            bench.scheduler.prepared(item, CountedRow(item.row), 0.0)
    bench.drain()
    computed = sorted(state for forward in bench.forwards for state in forward)
    assert computed == sorted(f"{n}/{i}" for _, n, size in admitted for i in range(size))
    for ticket, _, size in admitted:
        assert ticket.reply is not None
        assert len(ticket.reply.answers) == size


@pytest.mark.parametrize("order", ["before", "after"])
def test_a_row_that_cannot_be_read_fails_alone_and_says_why(bench: Any, order: str) -> None:
    """MRG-3"""
    error = ErrorAnswer(AnswerError.INVALID_INPUT, "a picture of four gigapixels")
    ticket = bench.submit("bad", "good", questions=("a", "b"))
    bad, good = ticket.unread
    if order == "before":
        bench.scheduler.unreadable(bad, error, bench.now)
    bench.scheduler.prepared(good, CountedRow(good.row), 0.0)
    if order == "after":
        bench.scheduler.unreadable(bad, error, bench.now)
    bench.drain()
    failed, answers = ticket.reply.answers
    assert failed == (error, error)
    assert ticket.reply.tokens[0] == 0
    assert not any(isinstance(answer, ErrorAnswer) for answer in answers)
    assert bench.forwards == [["good"]]


def test_a_rejected_row_answers_all_who_share_it_and_is_read_again_by_the_next(bench: Any) -> None:
    """MRG-3, CACHE-3"""
    error = ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED)
    first = bench.submit("long")
    second = bench.submit("long")
    bench.scheduler.unreadable(first.unread[0], error, bench.now)
    assert first.reply.answers == second.reply.answers == ((error,),)
    assert len(bench.submit("long").unread) == 1
    assert bench.scheduler.counts.forwards == 0
