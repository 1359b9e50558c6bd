"""A decision model behind a real Serve deployment: a 50 ms engine of batch 16.

SRV-5, SRV-7, SRV-8, SRV-9, SRV-18, BUD-2, BUD-4
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from functools import partial
from itertools import count
from typing import Any

import pytest

from models.engine import Row
from models.questions.types import (
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    Question,
    QuestionType,
)
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from models.scheduling.settings import Budget, Settings
from models.scheduling.stats import ReplicaStats
from serve_app.config.schema.catalog import LocalDeployment
from serve_app.deployments.asking.handles import method, running
from serve_app.deployments.asking.model_client import ask_model
from serve_app.deployments.placement.model_spec import deployment_options
from tests.doubles.deployments import KillableModel
from tests.doubles.engines import FixedTimeEngine, probability

pytestmark = [pytest.mark.serve, pytest.mark.timeout(240)]

QUESTION = Question(QuestionType.NOUL, "Is it?")
states = (f"state {number}" for number in count())


@pytest.fixture(scope="module")
def batched(ray_serve: None) -> Any:
    return _run("batched", FixedTimeEngine, Settings(Budget(rows=16)))


@pytest.fixture(scope="module")
def narrow(ray_serve: None) -> Any:
    """A row at a time, and room for four calls."""
    return _run("narrow", partial(FixedTimeEngine, 0.2, 1), Settings(Budget(rows=1), max_calls=4))


@pytest.fixture(params=["grpc", "by reference"])
def any_transport(narrow: Any, request: pytest.FixtureRequest) -> Any:
    return narrow.options(_by_reference=request.param == "by reference")


def _run(name: str, load: Any, settings: Settings) -> Any:
    from ray import serve

    catalog = LocalDeployment(provider="model_runtime", artifact="embedded")
    options = deployment_options(catalog) | {"name": name}
    bound = serve.deployment(KillableModel, **options).bind(load, settings)
    return serve.run(bound, name=name, route_prefix=None)


async def _ask(handle: Any, timeout_s: float | None = 10.0) -> str:
    """One call about a state of its own: ``right``, ``wrong`` or the error."""
    state = next(states)
    reply = await ask_model(
        method(handle, "answer"), ModelCall((Row(state, (QUESTION,)),)), timeout_s
    )
    if isinstance(reply, Refusal):
        return f"refused: {reply.error}"
    ((answer,),) = reply.answers
    if isinstance(answer, ErrorAnswer):
        return answer.error
    assert isinstance(answer, NoulAnswer)
    return "right" if answer.probability == probability(state, QUESTION) else "wrong"


async def _open_loop(handle: Any, rate: float, calls: int) -> list[str]:
    start = time.perf_counter()
    tasks = []
    for i in range(calls):
        await asyncio.sleep(max(0.0, start + i / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(_ask(handle)))
    return await asyncio.gather(*tasks)


async def _stats(handle: Any) -> ReplicaStats:
    stats = await handle.stats.remote()
    assert isinstance(stats, ReplicaStats)
    return stats


async def _when_open(handle: Any, calls: int) -> ReplicaStats:
    """The replica's numbers as soon as ``calls`` are open there."""
    while (stats := await _stats(handle)).open_calls != calls:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.005)
    return stats


@pytest.mark.parametrize(("rate", "calls"), [(200, 400), (280, 560)])
async def test_an_open_loop_is_answered_whole_in_large_batches(
    batched: Any, rate: int, calls: int
) -> None:
    """SRV-5"""
    before = (await _stats(batched)).counts
    outcomes = await _open_loop(batched, rate, calls)
    after = (await _stats(batched)).counts
    assert outcomes == ["right"] * calls
    assert (after.rows - before.rows) / (after.forwards - before.forwards) >= 8


async def test_a_lone_call_waits_at_most_a_third_of_a_millisecond(batched: Any) -> None:
    """SRV-5. The quietest of five rounds: other work on the machine is not the queue's."""
    medians = []
    for _ in range(5):
        waits = []
        for _ in range(20):
            call = ModelCall((Row(next(states), (QUESTION,)),))
            reply = await ask_model(method(batched, "answer"), call, 10.0)
            assert isinstance(reply, ModelReply)
            waits.append(reply.queue_ms)
        medians.append(statistics.median(waits))
        if medians[-1] <= 0.3:
            break
    assert min(medians) <= 0.3


async def test_a_full_replica_refuses_at_once_and_answers_what_it_admitted(narrow: Any) -> None:
    """SRV-8"""
    before = await _when_open(narrow, 0)
    outcomes = await asyncio.gather(*(_ask(narrow) for _ in range(12)))
    after = await _stats(narrow)
    refused = outcomes.count("refused: overloaded")
    assert outcomes.count("right") == 12 - refused
    assert 0 < refused <= 8
    assert after.counts.refused - before.counts.refused == refused
    assert after.counts.rows - before.counts.rows == 12 - refused
    assert await _ask(narrow) == "right"


async def test_expired_items_are_counted_and_unread(any_transport: Any) -> None:
    """BUD-2, SRV-9"""
    before = (await _when_open(any_transport, 0)).counts
    blockers = [asyncio.create_task(_ask(any_transport)) for _ in range(2)]
    await _when_open(any_transport, 2)
    late = ModelCall((Row(next(states), (QUESTION,)),), remaining_s=0.05)
    reply = await any_transport.answer.remote(late)
    assert reply.answers == ((ErrorAnswer(AnswerError.DEADLINE_EXCEEDED),),)
    assert await asyncio.gather(*blockers) == ["right"] * 2
    after = (await _when_open(any_transport, 0)).counts
    assert after.expired - before.expired == 1
    assert after.rows - before.rows == 2


async def test_a_caller_that_waits_no_longer_takes_its_rows_along(any_transport: Any) -> None:
    """SRV-9"""
    before = (await _when_open(any_transport, 0)).counts
    blockers = [asyncio.create_task(_ask(any_transport)) for _ in range(2)]
    await _when_open(any_transport, 2)
    assert await _ask(any_transport, 0.1) == AnswerError.DEADLINE_EXCEEDED
    assert await asyncio.gather(*blockers) == ["right"] * 2
    after = (await _when_open(any_transport, 0)).counts
    assert after.rows - before.rows == 2


async def test_a_cancelled_callers_rows_leave_the_queue(any_transport: Any) -> None:
    """BUD-4, SRV-9"""
    before = (await _when_open(any_transport, 0)).counts
    blockers = [asyncio.create_task(_ask(any_transport)) for _ in range(2)]
    await _when_open(any_transport, 2)
    caller = asyncio.create_task(_ask(any_transport))
    await _when_open(any_transport, 3)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert await asyncio.gather(*blockers) == ["right"] * 2
    after = (await _when_open(any_transport, 0)).counts
    assert after.cancelled - before.cancelled == 1
    assert after.rows - before.rows == 2


async def test_a_killed_replica_gives_no_wrong_answer_and_comes_back(batched: Any) -> None:
    """SRV-8, SRV-18; the caller knows when no replica runs, and when one does again"""
    pid = await batched.pid.remote()
    answer = method(batched, "answer")
    load = asyncio.create_task(_open_loop(batched, 60, 180))
    await asyncio.sleep(1)
    assert running(answer)
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        while running(answer):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.002)
        while not running(answer):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
    assert vars(answer)["_router"].running_replicas_populated()
    outcomes = await load
    assert set(outcomes) <= {"right", AnswerError.UNAVAILABLE, AnswerError.DEADLINE_EXCEEDED}
    assert outcomes.count("right") >= 150
    assert await _ask(batched, 20.0) == "right"
    assert await batched.pid.remote() != pid
