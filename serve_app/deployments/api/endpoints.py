"""One gateway, two ways in: an HTTP application and methods for Serve handles (SRV-15)."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from random import Random

from starlette.types import Receive, Scope, Send

from models.questions.types import JsonValue
from serve_app.deployments.api.exchange import Api
from serve_app.deployments.api.gateway import Gateway
from serve_app.deployments.api.http import create_app
from serve_app.deployments.api.services import Services
from serve_app.deployments.rollout.open_requests import OpenRequests
from serve_app.errors import Code, RouterError
from serve_app.providers.chat import ChatProviders
from serve_app.telemetry.metrics import observe_provider
from serve_app.wire.answer import WireAnswer


class Endpoints:
    """What one policy's gateway offers. A handle's answers are those of HTTP: status, body and
    headers.
    """

    def __init__(self, services: Services) -> None:
        providers = ChatProviders(
            services.config.providers.models,
            env=os.environ,
            rng=Random(),
            observe=observe_provider,
        )
        self._gateway = Gateway(services, providers, env=os.environ)
        self._http = create_app(self._gateway)
        self._open = OpenRequests()

    async def aclose(self) -> None:
        """Ends the connections to providers and remote models once the requests that began here
        have ended; no new one may come.
        """
        await self._open.ended()
        await self._gateway.providers.aclose()
        await self._gateway.services.aclose()

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The HTTP application, with no lifespan of its own."""
        with self._open.one_more():
            await self._http(scope, receive, send)

    async def ask(self, body: JsonValue) -> WireAnswer:
        """``POST /v1/systemone``."""
        return await self._serve(Api.SYSTEMONE, body)

    async def preview(self, body: JsonValue) -> WireAnswer:
        """``POST /api/v1/routing/preview``."""
        return await self._serve(Api.PREVIEW, body)

    async def route(self, body: JsonValue) -> WireAnswer:
        """``POST /v1/chat/completions``; a stream comes as a whole, here and below."""
        return await self._serve(Api.CHAT, body)

    async def respond(self, body: JsonValue) -> WireAnswer:
        """``POST /v1/responses``."""
        return await self._serve(Api.RESPONSES, body)

    async def message(self, body: JsonValue) -> WireAnswer:
        """``POST /v1/messages``."""
        return await self._serve(Api.MESSAGES, body)

    async def _serve(self, api: Api, body: JsonValue) -> WireAnswer:
        with self._open.one_more():
            answer = await self._gateway.serve(api, {}, _encoded(body), trusted=True)
            if isinstance(answer, WireAnswer):
                return answer
            try:
                whole = b"".join([chunk async for chunk in answer.chunks])
            finally:
                await answer.aclose()
            return WireAnswer(answer.status, whole, answer.headers)


async def _encoded(body: JsonValue) -> AsyncIterator[bytes]:
    """The bytes that an HTTP client would send, so that both ways are checked alike.

    The standard library's writer refuses NaN, where orjson writes null.
    """
    try:
        yield json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise RouterError(
            Code.INVALID_REQUEST, "the body cannot be written as JSON", loc=("body",)
        ) from None
