"""Typed questions from clients: one hop to a decision model, and its answers (20-system-one)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Final

import orjson

from models.cards.schema import Card
from models.engine import Row
from models.questions.standard import RequestError, SystemOneBody, parse_body, response
from models.questions.types import AnswerError, ErrorAnswer, JsonValue
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from serve_app.asking.call import Call, Entry, Timings
from serve_app.asking.stage import answered
from serve_app.deployments.api.exchange import Exchange
from serve_app.deployments.api.naming import Names
from serve_app.deployments.api.services import Services
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


class SystemOneHandler:
    """``POST /v1/systemone``."""

    def __init__(self, services: Services, names: Names) -> None:
        self._services = services
        self._names = names
        self._cards: Final[Mapping[str, Card]] = services.cards
        self._remote: Final = services.config.global_.model_catalog.remote

    async def answer(self, exchange: Exchange, body: JsonValue) -> WireAnswer:
        try:
            call = parse_body(body)
        except RequestError as error:
            headers = {"content-type": JSON, **id_headers(exchange.id), **public_headers("error")}
            return WireAnswer(UNPROCESSABLE, orjson.dumps(problems_body(error.problems)), headers)
        deployment = self._names.decision_model(call.model)
        card = self._cards[deployment]
        if deployment in self._remote:
            reply = await self._remote_reply(exchange, call, deployment)
        else:
            reply = await self._local_reply(exchange, call, deployment)
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

    async def _local_reply(
        self, exchange: Exchange, call: SystemOneBody, deployment: str
    ) -> ModelReply:
        """The model's reply; when time runs out each question says so in its place (S1-12)."""
        asked = call.asked()
        rows = tuple(Row(state, questions) for state, questions in asked)
        remaining = _patience(exchange, call, PATIENCE_S)
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
            raise _refusal(reply.error, reply.predicted_wait_s)
        metrics.observe_reply(deployment, reply)
        return reply

    async def _remote_reply(
        self, exchange: Exchange, call: SystemOneBody, deployment: str
    ) -> ModelReply:
        """As above; what a remote API has no room for, whole, is refused here too (S1-9)."""
        limit_s = self._remote[deployment].timeout_s
        remote_call = call_of(deployment, call, _patience(exchange, call, limit_s))
        (reply,) = await answered([remote_call], self._services.ask_remote, monotonic)
        answers = tuple(tuple(by_id.values()) for by_id in reply.answers.values())
        errors = {a.error if isinstance(a, ErrorAnswer) else None for row in answers for a in row}
        for whole in (AnswerError.OVERLOADED, AnswerError.NOT_READY):
            if errors == {whole}:
                raise _refusal(whole, reply.retry_after_s)
        # A remote API counts a call's tokens as one.
        tokens = (reply.input_tokens, *(0 for _ in answers[1:]))
        return ModelReply(answers, tokens, 0.0, 0.0, 0.0)


def call_of(deployment: str, body: SystemOneBody, timeout_s: float) -> Call:
    """The body's valid questions as a call, about their states as they were given."""
    entries = {
        name: Entry(request.given, asked)
        for name, request in body.requests.items()
        if (asked := request.asked_by_id)
    }
    return Call(deployment, entries, timeout_s)


def _patience(exchange: Exchange, call: SystemOneBody, longest_s: float) -> float:
    """Seconds that the call is waited for, from now."""
    given = None if call.deadline_ms is None else call.deadline_ms / 1e3
    return min(s for s in (given, exchange.remaining_s(), longest_s) if s is not None)


def _refusal(error: AnswerError, retry_after_s: float | None) -> RouterError:
    if error is AnswerError.OVERLOADED:
        return RouterError(Code.OVERLOADED, "the model has no room", retry_after_s=retry_after_s)
    return RouterError(Code.NOT_READY, "the model is not ready")
