"""Typed questions from clients: one hop to a decision model, and its answers (20-system-one)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Final

import orjson

from models.cards.schema import Card
from models.engine import Row
from models.questions.standard import RequestError, SystemOneBody, parse_body, response
from models.questions.types import Answer, AnswerError, ErrorAnswer, JsonValue
from models.scheduling.messages import ModelCall, Refusal
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
            found = await self._remote_answers(exchange, call, deployment)
        else:
            found = await self._local_answers(exchange, call, deployment)
        meta = None if found.timings is None else asdict(found.timings)
        answer = response(
            call, card.name, found.answers, found.tokens, thresholds=card.thresholds, meta=meta
        )
        headers = {
            "content-type": JSON,
            **id_headers(exchange.id),
            **public_headers("systemone", model=card.name),
            **server_timing({}, [found.timings]),
        }
        return WireAnswer(200, orjson.dumps(answer), headers)

    async def _local_answers(
        self, exchange: Exchange, call: SystemOneBody, deployment: str
    ) -> _Found:
        """The model's answers; when time runs out each question says so in its place (S1-12)."""
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
            return _Found(tuple((late,) * len(row.questions) for row in rows), (0,) * len(rows))
        if isinstance(reply, Refusal):
            metrics.observe_refusal(deployment, reply)
            raise _refusal(reply.error, reply.predicted_wait_s)
        if not reply.heard:
            return _Found(reply.answers, reply.tokens)
        metrics.observe_reply(deployment, reply)
        timings = Timings(reply.queue_ms, reply.tokenize_ms, reply.forward_ms)
        return _Found(reply.answers, reply.tokens, timings)

    async def _remote_answers(
        self, exchange: Exchange, call: SystemOneBody, deployment: str
    ) -> _Found:
        """As above; what a remote API refuses as a whole is refused here too, whatever answers
        were kept from before (S1-9, S1-12)."""
        limit_s = self._remote[deployment].timeout_s
        remote_call = call_of(deployment, call, _patience(exchange, call, limit_s))
        (reply,) = await answered([remote_call], self._services.ask_remote, monotonic)
        errors = {reason for by_id in reply.unanswered.values() for reason in by_id.values()}
        for whole in (AnswerError.OVERLOADED, AnswerError.NOT_READY):
            if whole in errors:
                raise _refusal(whole, reply.retry_after_s)
        answers = tuple(tuple(by_id.values()) for by_id in reply.answers.values())
        if all(answer == INVALID for row in answers for answer in row):
            message = "the model takes none of these questions"
            raise RouterError(Code.INVALID_REQUEST, message, loc=("body", "questions"))
        return _Found(answers, tuple(reply.tokens.get(name, 0) for name in reply.answers))


INVALID: Final = ErrorAnswer(AnswerError.INVALID_QUESTION)


@dataclass(frozen=True, slots=True)
class _Found:
    """A row of answers and a count of tokens per request of the call that has a valid question."""

    answers: Sequence[Sequence[Answer]]
    tokens: Sequence[int]
    timings: Timings | None = None


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
