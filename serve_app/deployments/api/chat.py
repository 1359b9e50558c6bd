"""Chat requests: the request stage, then what it decided (API-4, API-9)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

import orjson

from models.questions.types import JsonValue
from serve_app.deployments.api.exchange import Exchange
from serve_app.deployments.api.naming import Names
from serve_app.deployments.api.services import Services
from serve_app.deployments.api.streams import chat_events
from serve_app.errors import Code, RouterError, WireFormat
from serve_app.message import Message
from serve_app.outcome import FastAnswer, Outcome
from serve_app.providers.answers import WholeAnswer
from serve_app.providers.chat import ChatProviders, UnansweredError
from serve_app.telemetry import logs, metrics
from serve_app.wire.answer import EVENT_STREAM, JSON, WireAnswer, WireStream
from serve_app.wire.chat.answer import FastCompletion, provider_error
from serve_app.wire.chat.request import (
    ChatRequest,
    message_of_text,
    read_message,
    read_request,
    upstream_body,
)
from serve_app.wire.errors import error_answer
from serve_app.wire.headers import (
    error_path,
    id_headers,
    outcome_headers,
    response_path,
    server_timing,
)
from serve_app.wire.preview import preview_body, read_preview
from serve_app.wire.trace import trace


class ChatHandler:
    """``POST /v1/chat/completions`` and its preview. ``debug``: callers who get the trace."""

    def __init__(
        self,
        services: Services,
        providers: ChatProviders,
        names: Names,
        *,
        debug: Collection[str],
        wall_clock: Callable[[], float],
    ) -> None:
        self._services = services
        self._providers = providers
        self._names = names
        self._debug = frozenset(debug)
        self._wall_clock = wall_clock

    async def chat(self, exchange: Exchange, body: JsonValue) -> WireAnswer | WireStream:
        request = read_request(body)
        recipe = self._names.recipe(request.model)
        if recipe is None:
            outcome = self._names.unrouted(request.model, self._services.config_version)
            return await self._forward(exchange, request, outcome)
        message = read_message(request.body, self._names.headers_read(exchange.headers))
        outcome = await self._plan(exchange, message, recipe, explain=False)
        metrics.observe_decision(outcome)
        if outcome.refused is not None:
            refused = RouterError(outcome.refused.code, outcome.refused.message)
            return self._refuse(exchange, outcome, refused)
        if outcome.fast is not None:
            return self._fast(exchange, request, outcome, outcome.fast, message.tokens)
        return await self._forward(exchange, request, outcome)

    async def preview(self, exchange: Exchange, body: JsonValue) -> WireAnswer:
        request = read_preview(body)
        read = self._names.headers_read(exchange.headers)
        model = request.model or self._names.first_entrypoint
        recipe = self._names.recipe(model)
        if recipe is None:
            outcome = self._names.unrouted(model, self._services.config_version)
        else:
            message = (
                message_of_text(request.text or "", read)
                if request.body is None
                else read_message(request.body, read)
            )
            outcome = await self._plan(exchange, message, recipe, explain=True)
        path = response_path(outcome)
        chosen = outcome.models[0] if outcome.models else None
        headers = {"content-type": JSON} | self._headers(exchange, outcome, path, chosen)
        return WireAnswer(200, orjson.dumps(preview_body(outcome, path)), headers)

    async def _plan(
        self, exchange: Exchange, message: Message, recipe: str, *, explain: bool
    ) -> Outcome:
        try:
            async with asyncio.timeout_at(exchange.deadline):
                outcome = await self._services.plan(
                    message, recipe, exchange.remaining_s(), explain=explain
                )
        except TimeoutError:
            late = "the request's own deadline passed"
            raise RouterError(Code.DEADLINE_EXCEEDED, late) from None
        metrics.observe_signals(outcome)
        logs.signal_failed_closed(outcome, exchange.id)
        return outcome

    async def _forward(
        self, exchange: Exchange, request: ChatRequest, outcome: Outcome
    ) -> WireAnswer | WireStream:
        """To the chosen models' providers. Nothing leaves the router before this line (law 1)."""
        models = outcome.models if outcome.fallback else outcome.models[:1]
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            answer = await self._providers.complete(
                models,
                lambda id: upstream_body(request.body, id),
                exchange.headers,
                exchange.deadline,
            )
        except UnansweredError as error:
            return self._refuse(exchange, outcome, error, error.model)
        provider_ms = {"provider": (clock() - began) * 1e3}
        headers = {
            **answer.headers,
            **self._headers(exchange, outcome, "upstream", answer.model, provider_ms),
        }
        if not isinstance(answer, WholeAnswer):
            events = chat_events(answer, exchange.deadline)
            return WireStream(answer.status, events, headers, answer.chunks.aclose)
        if answer.status < 400:
            return WireAnswer(answer.status, answer.body, headers)
        error_body = provider_error(answer.status, answer.body)
        if error_body is not answer.body:
            headers["content-type"] = JSON
            headers.pop("content-encoding", None)
        return WireAnswer(answer.status, error_body, headers)

    def _fast(
        self,
        exchange: Exchange,
        request: ChatRequest,
        outcome: Outcome,
        fast: FastAnswer,
        prompt_tokens: int,
    ) -> WireAnswer | WireStream:
        if fast.status != 200:
            return self._refuse(exchange, outcome, RouterError(Code.CONTENT_BLOCKED, fast.message))
        completion = FastCompletion(
            id="chatcmpl-" + exchange.id.removeprefix("req_"),
            created=int(self._wall_clock()),
            model=request.model,
            text=fast.message,
            prompt_tokens=prompt_tokens,
        )
        headers = self._headers(exchange, outcome, "fast_response", None)
        if request.stream:
            stream = completion.stream(request.include_usage)
            headers["content-type"] = EVENT_STREAM
            return WireStream(200, stream, headers, stream.aclose)
        headers["content-type"] = JSON
        return WireAnswer(200, orjson.dumps(completion.whole()), headers)

    def _refuse(
        self, exchange: Exchange, outcome: Outcome, error: RouterError, model: str | None = None
    ) -> WireAnswer:
        answer = error_answer(error, WireFormat.CHAT)
        headers = self._headers(exchange, outcome, error_path(error.code), model)
        return WireAnswer(answer.status, answer.body, {**answer.headers, **headers})

    def _headers(
        self,
        exchange: Exchange,
        outcome: Outcome,
        path: str,
        model: str | None,
        stage_ms: Mapping[str, float] | None = None,
    ) -> dict[str, str]:
        """Public headers, timings, and the trace for callers who may see it (HDR-1, HDR-2)."""
        headers = {
            **id_headers(exchange.id),
            **outcome_headers(outcome, path, model),
            **server_timing(
                {**outcome.stage_ms, **(stage_ms or {})}, [call.timings for call in outcome.calls]
            ),
        }
        if exchange.caller is not None and exchange.caller in self._debug:
            headers["x-vsr-trace"] = trace(outcome)
        return headers
