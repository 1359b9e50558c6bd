"""The asker's side of a call. SRV-8, SRV-9"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from ray.exceptions import ActorDiedError, ActorUnavailableError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

from models.engine import Row
from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer, Question, QuestionType
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from serve_app.deployments.asking.model_client import ask_model
from tests.doubles.handles import SILENCE, ScriptedHandle

QUESTIONS = (Question(QuestionType.NOUL, "a"), Question(QuestionType.NOUL, "b"))
CALL = ModelCall((Row("s", QUESTIONS), Row("t", QUESTIONS[:1])))
REPLY = ModelReply(((NoulAnswer(0.5),) * 2, (NoulAnswer(0.5),)), (1, 1), 0.0, 0.0, 0.0)
DIED = ActorDiedError()
LOST = ActorUnavailableError("gone", None)


async def ask(handle: ScriptedHandle, timeout_s: float | None = 5.0) -> Any:
    return await ask_model(handle, CALL, timeout_s)  # type: ignore[arg-type]


def errors(reply: Any) -> list[list[AnswerError]]:
    assert isinstance(reply, ModelReply)
    return [[a.error for a in row if isinstance(a, ErrorAnswer)] for row in reply.answers]


async def test_a_reply_and_a_refusal_come_back_as_they_are() -> None:
    refusal = Refusal(AnswerError.OVERLOADED, 3.0)
    assert await ask(ScriptedHandle(REPLY)) is REPLY
    assert await ask(ScriptedHandle(refusal)) is refusal


async def test_the_time_left_travels_with_the_call_less_a_last_word() -> None:
    handle = ScriptedHandle(REPLY, REPLY, REPLY)
    await ask(handle, 5.0)
    await ask(handle, 0.1)
    await ask(handle, None)
    long, short, endless = (call.remaining_s for call in handle.calls)
    assert long is not None
    assert short is not None
    assert 4.0 < long < 4.99
    assert 0 < short <= 0.09
    assert endless is None


async def test_without_a_timeout_the_calls_own_remaining_time_counts() -> None:
    handle = ScriptedHandle(SILENCE)
    call = ModelCall(CALL.rows, remaining_s=0.01)
    reply = await ask_model(handle, call)  # type: ignore[arg-type]
    assert errors(reply)[0][0] is AnswerError.DEADLINE_EXCEEDED


async def test_a_late_call_is_cancelled_and_every_question_of_it_expired() -> None:
    handle = ScriptedHandle(SILENCE)
    reply = await ask(handle, 0.01)
    assert errors(reply) == [[AnswerError.DEADLINE_EXCEEDED] * 2, [AnswerError.DEADLINE_EXCEEDED]]
    await asyncio.sleep(0)  # the loop's next turn
    assert handle.responses[0].cancelled


async def test_a_caller_that_is_cancelled_cancels_its_call() -> None:
    handle = ScriptedHandle(SILENCE)
    task = asyncio.create_task(ask(handle))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert handle.responses[0].cancelled


@pytest.mark.parametrize("death", [DIED, LOST])
async def test_a_dead_replicas_call_is_asked_once_more(death: Exception) -> None:
    handle = ScriptedHandle(death, REPLY)
    assert await ask(handle) is REPLY
    assert len(handle.calls) == 2


async def test_a_call_is_asked_twice_at_most() -> None:
    handle = ScriptedHandle(DIED, LOST, REPLY)
    assert errors(await ask(handle))[1] == [AnswerError.UNAVAILABLE]
    assert len(handle.calls) == 2


async def test_a_dead_replicas_call_is_not_asked_again_after_its_deadline() -> None:
    handle = ScriptedHandle(DIED, REPLY)
    assert errors(await ask(handle, 0.01))[1] == [AnswerError.UNAVAILABLE]
    assert len(handle.calls) == 1


async def test_backpressure_is_overload_and_no_overload_while_the_model_loads() -> None:
    pressure = BackPressureError(1, 1)
    full = await ask(ScriptedHandle(pressure))
    loading = await ask(ScriptedHandle(pressure, ready=False))
    assert full == Refusal(AnswerError.OVERLOADED)
    assert loading == Refusal(AnswerError.NOT_READY)


async def test_a_call_to_a_model_that_loads_longer_than_its_deadline_is_not_ready() -> None:
    handle = ScriptedHandle(SILENCE, ready=False)
    assert await ask(handle, 0.01) == Refusal(AnswerError.NOT_READY)


async def test_a_deployment_that_failed_is_unavailable() -> None:
    handle = ScriptedHandle(DeploymentUnavailableError.__new__(DeploymentUnavailableError))
    assert errors(await ask(handle))[1] == [AnswerError.UNAVAILABLE]
    assert len(handle.calls) == 1


async def test_an_unexpected_error_is_unavailable_and_its_message_is_in_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Laws 1 and 5"""
    with caplog.at_level(logging.ERROR):
        reply = await ask(ScriptedHandle(ValueError("a secret")))
    assert errors(reply)[1] == [AnswerError.UNAVAILABLE]
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text
