"""The asker's side of a call to a decision model's replicas (SRV-8, SRV-9)."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import time
from functools import cache
from typing import Final, cast

from ray.exceptions import RayActorError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    ReplicaUnavailableError,
)
from ray.serve.handle import DeploymentHandle

from models.questions.types import AnswerError, ErrorAnswer
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from models.scheduling.presence import Board
from serve_app.deployments.asking.handles import result, running
from serve_app.deployments.asking.turnstile import Turnstile

logger = logging.getLogger(__name__)

LAST_WORD_S: Final = 0.02
"""The replica stops this much earlier than the asker, and at most a tenth of the time left: what
it has answered by its deadline must still get here."""

BACKOFF_S: Final = (0.02, 0.04)
"""Between a replica's death and asking another."""


async def ask_model(
    answer: DeploymentHandle[object], call: ModelCall, timeout_s: float | None = None
) -> ModelReply | Refusal:
    """Asks once, and once more where a replica died with the call: questions are pure.

    ``answer`` is the handle of the model's method of that name.
    ``timeout_s`` bounds the whole, absent the call's ``remaining_s``. A call without a reply by
    then is answered with ``DEADLINE_EXCEEDED``, or refused with ``NOT_READY`` where no replica
    runs; one that no replica could answer, with ``UNAVAILABLE``.
    """
    timeout_s = call.remaining_s if timeout_s is None else timeout_s
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    for attempt in range(2):
        if attempt:
            await asyncio.sleep(random.uniform(*BACKOFF_S))
        left_s = None if deadline is None else deadline - time.monotonic()
        if left_s is not None and left_s <= 0:
            break
        try:
            return await _once(answer, call, left_s)
        except TimeoutError:
            if not running(answer):
                return Refusal(AnswerError.NOT_READY)
            return unanswered(call, AnswerError.DEADLINE_EXCEEDED)
        except BackPressureError:
            return Refusal(AnswerError.OVERLOADED if running(answer) else AnswerError.NOT_READY)
        except DeploymentUnavailableError:
            break
        except (RayActorError, ReplicaUnavailableError):
            continue
        except Exception as error:  # its message may hold text of the request
            logger.error("a decision model's replica raised %s", type(error).__name__)
            break
    return unanswered(call, AnswerError.UNAVAILABLE)


def unanswered(call: ModelCall, error: AnswerError) -> ModelReply:
    """A reply whose every answer is ``error``."""
    answers = tuple((ErrorAnswer(error),) * len(row.questions) for row in call.rows)
    return ModelReply(answers, (0,) * len(call.rows), 0.0, 0.0, 0.0, heard=False)


async def _once(
    answer: DeploymentHandle[object], call: ModelCall, left_s: float | None
) -> ModelReply | Refusal:
    """Raises ``TimeoutError`` after ``left_s``, having cancelled the call."""
    # Made before it waits for its turn: what it tells the replica is less by the wait.
    remaining_s = None if left_s is None else left_s - min(LAST_WORD_S, left_s / 10)
    board = _board()
    place = None if board is None else board.place()
    sent = ModelCall(call.rows, remaining_s, place=place)
    async with asyncio.timeout(left_s):
        await _turnstile.enter()
        response = answer.remote(sent)
        try:
            return cast(ModelReply | Refusal, await result(response))
        except asyncio.CancelledError:
            if board is not None and place is not None:
                board.leave(place)
            raise


_turnstile: Final = Turnstile()


@cache
def _board() -> Board | None:
    """This process's, where the system has such memory."""
    return Board() if hasattr(os, "memfd_create") else None
