"""Requests to chat models, in whatever format: the request stage, then what it decided (API-4,
API-9).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import orjson

from models.questions.types import JsonValue
from serve_app.deployments.api.exchange import Exchange
from serve_app.deployments.api.forwarding import Forwarding
from serve_app.deployments.api.naming import Names
from serve_app.deployments.api.services import Services
from serve_app.errors import Code, RouterError
from serve_app.message import Message
from serve_app.outcome import FastAnswer, Outcome
from serve_app.providers.chat import ChatProviders, UnansweredError
from serve_app.telemetry import logs, metrics
from serve_app.wire.answer import EVENT_STREAM, JSON, WireAnswer, WireStream
from serve_app.wire.errors import error_answer
from serve_app.wire.fast import fast_events
from serve_app.wire.format import ClientRequest, Format, Head
from serve_app.wire.headers import (
    ID_PREFIX,
    UNTRANSLATED,
    error_path,
    id_headers,
    outcome_headers,
    response_path,
    server_timing,
)
from serve_app.wire.neutral.message import message_of_text
from serve_app.wire.preview import preview_body, read_preview
from serve_app.wire.trace import trace
from serve_app.wire.translation import write_stream, write_whole
from serve_app.wire.untranslated import untranslated_headers


class ChatHandler:
    """It knows no format by name. ``debug``: callers who get the trace."""

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
        models = {model.name: model for model in services.config.providers.models}
        self._forwarding = Forwarding(providers, models)
        self._names = names
        self._debug = frozenset(debug)
        self._wall_clock = wall_clock

    async def answer(
        self, exchange: Exchange, client: Format, body: JsonValue
    ) -> WireAnswer | WireStream:
        """``client``: the format of the body, and of the answer."""
        request = client.read_request(body)
        recipe = self._names.recipe(request.model)
        if recipe is None:
            outcome = self._names.unrouted(request.model, self._services.config_version)
            return await self._forward(exchange, client, self._head(exchange, request), outcome)
        message = client.read_message(request.body, self._names.headers_read(exchange.headers))
        outcome = await self._plan(exchange, message, recipe, explain=False)
        metrics.observe_decision(outcome)
        if outcome.refused is not None:
            refused = RouterError(outcome.refused.code, outcome.refused.message)
            return self._refuse(exchange, client, outcome, refused)
        head = self._head(exchange, request, message.tokens)
        if outcome.fast is not None:
            return self._fast(exchange, client, head, outcome, outcome.fast)
        return await self._forward(exchange, client, head, outcome)

    async def preview(self, exchange: Exchange, body: JsonValue) -> WireAnswer:
        request = read_preview(body, exchange.headers)
        read = self._names.headers_read(exchange.headers)
        model = request.model or self._names.first_entrypoint
        recipe = self._names.recipe(model)
        if recipe is None:
            outcome = self._names.unrouted(model, self._services.config_version)
        else:
            message = (
                message_of_text(request.text or "", read)
                if request.format is None
                else request.format.read_message(request.body, read)
            )
            outcome = await self._plan(exchange, message, recipe, explain=True)
        path = response_path(outcome)
        chosen = outcome.models[0] if outcome.models else None
        headers = {"content-type": JSON} | self._headers(exchange, outcome, path, chosen)
        return WireAnswer(200, orjson.dumps(preview_body(outcome, path)), headers)

    def _head(self, exchange: Exchange, request: ClientRequest, prompt_tokens: int = 0) -> Head:
        number = exchange.id.removeprefix(ID_PREFIX)
        return Head(number, int(self._wall_clock()), request.model, request, prompt_tokens)

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
        self, exchange: Exchange, client: Format, head: Head, outcome: Outcome
    ) -> WireAnswer | WireStream:
        """To the chosen models' providers. Nothing leaves the router before this line (law 1)."""
        models = outcome.models if outcome.fallback else outcome.models[:1]
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            forwarded = await self._forwarding.forward(exchange, client, head, models)
        except UnansweredError as error:
            return self._refuse(exchange, client, outcome, error, error.model)
        except RouterError as error:
            return self._refuse(exchange, client, outcome, error)
        if forwarded.lost:
            outcome = replace(outcome, warnings=(*outcome.warnings, UNTRANSLATED))
        stage_ms = {"provider": (clock() - began) * 1e3}
        return replace(
            forwarded.answer,
            headers={
                **forwarded.answer.headers,
                **self._headers(exchange, outcome, "upstream", forwarded.model, stage_ms),
                **untranslated_headers(forwarded.lost),
            },
        )

    def _fast(
        self, exchange: Exchange, client: Format, head: Head, outcome: Outcome, fast: FastAnswer
    ) -> WireAnswer | WireStream:
        if fast.status != 200:
            blocked = RouterError(Code.CONTENT_BLOCKED, fast.message)
            return self._refuse(exchange, client, outcome, blocked)
        events = fast_events(fast.message, head.prompt_tokens)
        headers = self._headers(exchange, outcome, "fast_response", None)
        if head.request.stream:
            stream = write_stream(client, events, head)
            return WireStream(200, stream, {**headers, "content-type": EVENT_STREAM}, stream.aclose)
        whole = write_whole(client, events, head)
        return WireAnswer(whole.status, whole.body, {**whole.headers, **headers})

    def _refuse(
        self,
        exchange: Exchange,
        client: Format,
        outcome: Outcome,
        error: RouterError,
        model: str | None = None,
    ) -> WireAnswer:
        answer = error_answer(error, client.name)
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
