"""A stage's calls, asked together. Nothing else of the policy asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from models.questions.types import AnswerError, ErrorAnswer
from models.questions.validation import validated
from serve_app.asking.call import Ask, Call, Reply

Clock = Callable[[], float]
"""Monotonic seconds."""

Rng = Callable[[], float]
"""Uniform in [0, 1)."""


async def answered(calls: Sequence[Call], ask: Ask, clock: Clock) -> list[Reply]:
    """The replies in the order of the calls, each answer checked against its question.

    A call that outlasts its ``timeout_s`` is cancelled and its questions are late (BUD-2).
    """
    if len(calls) == 1:
        return [await _answered(calls[0], ask, clock)]
    return await asyncio.gather(*(_answered(call, ask, clock) for call in calls))


async def _answered(call: Call, ask: Ask, clock: Clock) -> Reply:
    start = clock()
    try:
        async with asyncio.timeout(call.timeout_s):
            reply = await ask(call)
    except TimeoutError:
        late = ErrorAnswer(AnswerError.DEADLINE_EXCEEDED, "the answer was not ready in time")
        return failed(call, late, elapsed_ms=(clock() - start) * 1000)
    answers = {}
    for name, entry in call.entries.items():
        given = reply.answers.get(name, {})
        answers[name] = {
            id: validated(question, given.get(id)) for id, question in entry.questions.items()
        }
    return replace(reply, answers=answers)


def failed(call: Call, error: ErrorAnswer, elapsed_ms: float = 0.0, *, attempts: int = 1) -> Reply:
    """The reply to a call that failed whole."""
    answers = {name: dict.fromkeys(entry.questions, error) for name, entry in call.entries.items()}
    return Reply(answers, elapsed_ms=elapsed_ms, attempts=attempts)
