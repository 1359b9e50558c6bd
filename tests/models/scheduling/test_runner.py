"""The event loop's side: threads, deadlines, cancellation, health.

SRV-5, SRV-7, SRV-9, BUD-2
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from models.engine import Engine, Row
from models.questions.types import (
    Answer,
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
)
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from models.scheduling.presence import Board
from models.scheduling.runner import SHORT_CHARACTERS, SHORT_ROWS, UNREAD, Arrival, Runner
from models.scheduling.settings import Settings
from tests.doubles.engines import (
    CARD,
    CountedRow,
    FixedTimeEngine,
    GatedEngine,
    RejectingEngine,
    answers,
)

QUESTION = Question(QuestionType.NOUL, "Is it?")


def call(*states: str, remaining_s: float | None = None) -> ModelCall:
    return ModelCall(tuple(Row(state, (QUESTION,)) for state in states), remaining_s)


@asynccontextmanager
async def running(engine: Engine, **options: Any) -> AsyncIterator[Runner]:
    runner = Runner(engine, **options)
    try:
        yield runner
    finally:
        runner.close()


async def ask(runner: Runner, asked: ModelCall) -> ModelReply:
    (taken,) = runner.submit([runner.arrival(asked)])
    assert not isinstance(taken, Refusal)
    return await taken


async def started(engine: GatedEngine) -> None:
    assert await asyncio.to_thread(engine.started.acquire, timeout=30)


async def test_calls_that_arrive_in_one_turn_share_a_forward() -> None:
    engine = GatedEngine()
    engine.gate.release()
    async with running(engine) as runner:
        replies = await asyncio.gather(*(ask(runner, call(f"state {i}")) for i in range(5)))
    assert engine.read == [[f"state {i}" for i in range(5)]]
    for i, reply in enumerate(replies):
        assert reply.answers == (answers(Row(f"state {i}", (QUESTION,))),)


async def test_calls_that_arrive_during_a_forward_share_the_next() -> None:
    engine = GatedEngine()
    async with running(engine) as runner:
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        others = [asyncio.create_task(ask(runner, call(f"other {i}"))) for i in range(4)]
        await asyncio.sleep(0)
        engine.gate.release(2)
        await asyncio.gather(first, *others)
    assert [len(read) for read in engine.read] == [1, 4]


async def test_callers_and_the_worker_never_run_one_model_at_once() -> None:
    inside, most = 0, 0
    lock = threading.Lock()

    def count(rows: Sequence[CountedRow]) -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.0001)  # wide enough for another to come in, were it let
        with lock:
            inside -= 1

    engine = GatedEngine(during=count)
    engine.gate.release(10_000)

    async def caller(number: int) -> int:
        right = 0
        for i in range(60):
            row = Row(f"{number}/{i}", (QUESTION,))
            right += (await ask(runner, ModelCall((row,)))).answers == (answers(row),)
        return right

    async with running(engine) as runner:
        assert sum(await asyncio.gather(*map(caller, range(3)))) == 180
    assert most == 1


async def test_a_call_expires_while_another_is_computed() -> None:
    engine = GatedEngine()
    async with running(engine) as runner:
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        late = await ask(runner, call("late", remaining_s=0.01))
        assert late.answers == ((ErrorAnswer(AnswerError.DEADLINE_EXCEEDED),),)
        assert not first.done()
        engine.gate.release()
        await first
        assert runner.stats().counts.expired == 1
        assert runner.stats().open_calls == 0
    assert engine.read == [["first"]]


async def test_a_cancelled_callers_row_is_never_read() -> None:
    engine = GatedEngine()
    async with running(engine) as runner:
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        arrival = runner.arrival(call("second"))
        runner.submit([arrival])
        runner.cancel(arrival)
        engine.gate.release(2)
        await first
        await ask(runner, call("first"))
        assert runner.stats().counts.cancelled == 1
    assert engine.read == [["first"]]


async def test_who_left_is_seen_before_the_message_that_says_so() -> None:
    """BUD-4, SRV-9: nobody cancels the second here"""
    engine, board = GatedEngine(), Board()
    place = board.place()
    async with running(engine) as runner:
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        rows = call("second").rows
        runner.submit([runner.arrival(ModelCall(rows, place=place))])
        board.leave(place)
        engine.gate.release(2)
        await first
        await ask(runner, call("first"))
        assert runner.stats().counts.cancelled == 1
    assert engine.read == [["first"]]


async def test_who_awaits_a_call_that_was_left_is_cancelled_without_the_message() -> None:
    """BUD-4: the caller's process may be dead, and a request that awaits for ever takes the place
    of another"""
    engine, board = GatedEngine(), Board()
    place = board.place()
    async with running(engine) as runner:
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        arrival = runner.arrival(ModelCall(call("second").rows, place=place))
        (pending,) = runner.submit([arrival])
        assert not isinstance(pending, Refusal)
        board.leave(place)
        engine.gate.release(2)
        await first
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(pending, 30)
        runner.cancel(arrival)
        stats = runner.stats()
    assert (stats.counts.cancelled_calls, stats.counts.cancelled) == (1, 1)
    assert (stats.open_calls, stats.waiting_rows) == (0, 0)
    assert engine.read == [["first"]]


async def test_cancelling_a_call_that_was_not_collected_does_nothing() -> None:
    async with running(GatedEngine()) as runner:
        runner.cancel(Arrival(call("never"), 0.0))
        assert runner.stats().counts.cancelled_calls == 0


async def test_what_is_long_or_many_is_tokenised_off_the_loop_and_short_texts_on_it() -> None:
    """SRV-7: a state, a question that is new, or empty rows without number"""
    threads: dict[str, str] = {}

    class Engine(FixedTimeEngine):
        def prepare(self, row: Row) -> CountedRow:
            threads[row.state[:1]] = threading.current_thread().name
            return super().prepare(row)

    async with running(Engine(0.0)) as runner:
        await ask(runner, call("short"))
        await ask(runner, call("long" * SHORT_CHARACTERS))
        await ask(runner, call(*(f"many {i}" for i in range(SHORT_CHARACTERS))))
        await ask(runner, call(*(f"{i}" for i in range(SHORT_ROWS))))
        assert threads["1"] == "MainThread"
        await ask(runner, call("", *(f"{i} rows" for i in range(SHORT_ROWS))))
        assert threads["1"] == "tokenizer"
        options = tuple(Option(f"{i}", "long " * 10) for i in range(255))
        question = Question(QuestionType.CHOICE, "?", options)
        await ask(runner, ModelCall((Row("question", (question,)),)))
        await ask(runner, ModelCall((Row("known question", (question,)),)))
    assert {state: threads[state] for state in "slmqk"} == {
        "s": "MainThread",
        "l": "tokenizer",
        "m": "tokenizer",
        "q": "tokenizer",
        "k": "MainThread",
    }


async def test_a_failed_forward_is_unavailable_and_the_next_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """SRV-18; law 5: the text of a request is in no log."""

    def fail_once(rows: Sequence[CountedRow]) -> None:
        if rows[0].row.state == "a secret":
            raise RuntimeError(rows[0].row.state)

    engine = GatedEngine(during=fail_once)
    engine.gate.release(2)
    async with running(engine) as runner:
        with caplog.at_level(logging.ERROR):
            failed = await ask(runner, call("a secret"))
        fine = await ask(runner, call("fine"))
        assert runner.stats().counts.failed_forwards == 1
        assert runner.stuck() is None
    assert isinstance(failed.answers[0][0], ErrorAnswer)
    assert failed.answers[0][0].error is AnswerError.UNAVAILABLE
    assert isinstance(fine.answers[0][0], NoulAnswer)
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [None, [], [None], [()], [(None,)], [(NoulAnswer(0.0),) * 2], [(NoulAnswer(0.0),)] * 2],
    ids=str,
)
async def test_a_forward_without_an_answer_for_each_question_fails_and_the_next_runs(
    wrong: Any,
) -> None:
    """UNK-1, SRV-18: nobody waits for an answer that never comes, or is given another's."""

    class Engine(FixedTimeEngine):
        def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
            right = super().forward(rows)
            return wrong if rows[0].row.state == "bad" else right

    async with running(Engine(0.0)) as runner:
        bad, good = await ask(runner, call("bad")), await ask(runner, call("good"))
    assert isinstance(bad.answers[0][0], ErrorAnswer)
    assert bad.answers[0][0].error is AnswerError.UNAVAILABLE
    assert isinstance(good.answers[0][0], NoulAnswer)


async def test_a_text_that_cannot_be_tokenised_fails_its_row_alone() -> None:
    class Engine(FixedTimeEngine):
        def prepare(self, row: Row) -> CountedRow:
            if row.state == "bad":
                raise ValueError(row.state)
            return super().prepare(row)

    async with running(Engine(0.0)) as runner:
        reply = await ask(runner, call("bad", "good"))
    assert reply.answers[0] == (UNREAD,)
    assert UNREAD.error is AnswerError.UNAVAILABLE
    assert isinstance(reply.answers[1][0], NoulAnswer)


@pytest.mark.parametrize("padding", ["", "long " * SHORT_CHARACTERS], ids=["loop", "thread"])
async def test_an_input_that_the_engine_rejects_fails_alone_with_its_reason(
    padding: str, caplog: pytest.LogCaptureFixture
) -> None:
    """MRG-3: it is the input's fault, so nothing is logged"""
    engine = RejectingEngine()
    async with running(engine) as runner:
        bad = f"{RejectingEngine.REJECTED}{padding}"
        reply = await ask(runner, call(bad, "good"))
        again = await ask(runner, call(bad))
        assert runner.stats().counts.rows == 1
    error = ErrorAnswer(AnswerError.INVALID_INPUT, RejectingEngine.MESSAGE)
    assert reply.answers[0] == again.answers[0] == (error,)
    assert isinstance(reply.answers[1][0], NoulAnswer)
    assert caplog.text == ""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_stuck_forward_and_a_dead_thread_are_unhealthy() -> None:
    now = 0.0
    engine = GatedEngine()
    async with running(engine, stuck_after_s=30.0, clock=lambda: now) as runner:
        assert runner.stuck() is None
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        now = 29.0
        assert runner.stuck() is None
        now = 31.0
        assert "runs for 31 s" in (runner.stuck() or "")
        engine.gate.release()
        await first
        assert runner.stuck() is None

    class Fatal(BaseException):
        pass

    def die(rows: Sequence[CountedRow]) -> None:
        raise Fatal

    dying = GatedEngine(during=die)
    dying.gate.release()
    async with running(dying) as runner:
        runner.submit([runner.arrival(call("last"))])
        await started(dying)
        await asyncio.to_thread(runner._model_thread._thread.join, 30)
        assert "died" in (runner.stuck() or "")


async def test_refusals_cost_no_tokenising() -> None:
    """SRV-8"""
    read: list[str] = []

    class Engine(GatedEngine):
        def prepare(self, row: Row) -> CountedRow:
            read.append(row.state)
            return super().prepare(row)

    engine = Engine(card=CARD)
    async with running(engine, settings=Settings(max_calls=2)) as runner:
        first = asyncio.create_task(ask(runner, call("first")))
        await started(engine)
        second = asyncio.create_task(ask(runner, call("second")))
        await asyncio.sleep(0)
        (taken,) = runner.submit([runner.arrival(call("third"))])
        assert isinstance(taken, Refusal)
        engine.gate.release(2)
        await asyncio.gather(first, second)
    assert read == ["first", "second"]
