"""Typed questions from clients: one hop to a decision model, and its answers (20-system-one)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import orjson

from models.cards.schema import Card
from models.engine import Row
from models.questions.standard import RequestError, SystemOneBody, parse_body, response
from models.questions.types import AnswerError, ErrorAnswer, JsonValue
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from serve_app.asking.call import Timings
from serve_app.deployments.exchange import Exchange
from serve_app.deployments.naming import Names
from serve_app.deployments.services import Services
from serve_app.errors import Code, RouterError
from serve_app.telemetry import metrics
from serve_app.wire.answer import JSON, WireAnswer
from serve_app.wire.headers import id_headers, public_headers, server_timing
from serve_app.wire.systemone import UNPROCESSABLE, problems_body

PATIENCE_S: Final = 30.0
"""The longest wait of a call without a deadline of its own, as where a model goes while it is
asked: half of what proxies and HTTP clients commonly wait (60 s), so that the client reads which
questions were late before its connection is cut.
"""


class Asked:
    """``POST /v1/systemone``."""

    def __init__(self, services: Services, names: Names) -> None:
        self._services = services
        self._names = names
        self._cards: Final[Mapping[str, Card]] = services.cards

    async def answer(self, exchange: Exchange, body: JsonValue) -> WireAnswer:
        try:
            call = parse_body(body)
        except RequestError as error:
            headers = {"content-type": JSON, **id_headers(exchange.id), **public_headers("error")}
            return WireAnswer(UNPROCESSABLE, orjson.dumps(problems_body(error.problems)), headers)
        deployment = self._names.decision_model(call.model)
        card = self._cards[deployment]
        reply = await self._answers(exchange, call, deployment)
        timings = Timings(reply.queue_ms, reply.tokenize_ms, reply.forward_ms)
        meta = {
            "queue_ms": reply.queue_ms,
            "tokenize_ms": reply.tokenize_ms,
            "forward_ms": reply.forward_ms,
        }
        answer = response(
            call, card.name, reply.answers, reply.tokens, thresholds=card.thresholds, meta=meta
        )
        headers = {
            "content-type": JSON,
            **id_headers(exchange.id),
            **public_headers("systemone", model=card.name),
            **server_timing({}, [timings]),
        }
        return WireAnswer(200, orjson.dumps(answer), headers)

    async def _answers(
        self, exchange: Exchange, call: SystemOneBody, deployment: str
    ) -> ModelReply:
        """The model's reply; when time runs out each question says so in its place (S1-12)."""
        asked = call.asked()
        rows = tuple(Row(state, questions) for state, questions in asked)
        given = None if call.deadline_ms is None else call.deadline_ms / 1e3
        limits = [s for s in (given, exchange.remaining_s()) if s is not None]
        remaining = min(limits, default=PATIENCE_S)
        try:
            async with asyncio.timeout(remaining):
                reply = await self._services.answer_systemone(
                    deployment, ModelCall(rows, remaining)
                )
        except TimeoutError:
            late = ErrorAnswer(AnswerError.DEADLINE_EXCEEDED)
            answers = tuple((late,) * len(row.questions) for row in rows)
            return ModelReply(answers, (0,) * len(rows), 0.0, 0.0, 0.0)
        if isinstance(reply, Refusal):
            metrics.observe_refusal(deployment, reply)
            raise _refusal(reply)
        metrics.observe_reply(deployment, reply)
        return reply


def _refusal(refusal: Refusal) -> RouterError:
    if refusal.error is AnswerError.OVERLOADED:
        wait = refusal.predicted_wait_s
        return RouterError(Code.OVERLOADED, "the model has no room", retry_after_s=wait)
    return RouterError(Code.NOT_READY, "the model is not ready")
