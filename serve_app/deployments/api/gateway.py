"""What Ingress does with a request, whoever brought it: an HTTP server or a Serve handle.

    headers ─► caller, deadline ─► body ─► JSON ─► chat: request stage ─► provider | fast | error
                                               ├─► count_tokens: an estimate
                                               └─► systemone: one decision model

Every failure leaves as an answer of the client's own format (API-1).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterable, Callable, Mapping
from time import time
from typing import Final

import orjson

from models.questions.types import JsonValue
from serve_app.deployments.api.callers import Callers
from serve_app.deployments.api.chat import ChatHandler
from serve_app.deployments.api.config_validation import MAX_BYTES as MAX_DOCUMENT_BYTES
from serve_app.deployments.api.config_validation import ConfigValidator
from serve_app.deployments.api.exchange import Api, Exchange
from serve_app.deployments.api.naming import Names
from serve_app.deployments.api.services import Services
from serve_app.deployments.api.systemone import SystemOneHandler
from serve_app.errors import Code, RouterError, WireFormat
from serve_app.providers.chat import ChatProviders
from serve_app.telemetry import logs
from serve_app.wire.answer import JSON, WireAnswer, WireStream
from serve_app.wire.anthropic.answer import count_body
from serve_app.wire.body import (
    ClientLeftError,
    json_bytes,
    parse_json,
    read_body,
    with_whole_integers,
)
from serve_app.wire.envelope import read_envelope
from serve_app.wire.errors import error_answer
from serve_app.wire.formats import FORMATS
from serve_app.wire.headers import (
    error_path,
    id_headers,
    public_headers,
    request_id,
    timeout_seconds,
)
from serve_app.wire.models_list import models_body


class Gateway:
    """Holds no policy: it asks ``services`` what becomes of a request, and does that."""

    def __init__(
        self,
        services: Services,
        providers: ChatProviders,
        *,
        env: Mapping[str, str],
        wall_clock: Callable[[], float] = time,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        router = services.config.global_.router
        names = self._names = Names(services.config, services.cards)
        debug = router.headers.debug.callers
        self.services: Final = services
        self.providers: Final = providers
        self._callers = Callers(router.callers, env)
        self._max_body_bytes = router.max_body_bytes
        self._chat = ChatHandler(services, providers, names, debug=debug, wall_clock=wall_clock)
        self._systemone = SystemOneHandler(services, names)
        self._models_body = orjson.dumps(models_body(services.config, services.cards))
        active = {"version": services.config_version, "config": services.shown}
        self._config_body = json_bytes(active)
        self._validator = ConfigValidator(env.keys())
        self._random_bytes = random_bytes

    async def serve(
        self,
        api: Api,
        headers: Mapping[str, str],
        chunks: AsyncIterable[bytes],
        *,
        trusted: bool = False,
    ) -> WireAnswer | WireStream:
        """The answer to a body, errors included; it raises ``ClientLeftError`` alone.

        ``headers`` are in lower case. ``trusted``: from inside the cluster, so no key is needed.
        """
        exchange = Exchange(request_id(self._random_bytes), headers)
        try:
            exchange = self._admit(exchange, trusted)
            data = await read_body(headers, chunks, self._max_body_bytes)
            body = with_whole_integers(parse_json(data), data)
            match api:
                case Api.CHAT | Api.RESPONSES | Api.MESSAGES:
                    return await self._chat.answer(exchange, FORMATS[api.wire_format], body)
                case Api.COUNT_TOKENS:
                    return self._counted(exchange, body)
                case Api.PREVIEW:
                    return await self._chat.preview(exchange, body)
                case Api.SYSTEMONE:
                    return await self._systemone.answer(exchange, body)
        except ClientLeftError:
            raise
        except Exception as error:
            return self.failed(error, api.wire_format, exchange.id)

    def models(self, headers: Mapping[str, str]) -> WireAnswer:
        """``GET /v1/models``."""
        return self._fixed(headers, self._models_body)

    def configuration(self, headers: Mapping[str, str]) -> WireAnswer:
        """``GET /api/v1/config``: the active one, without secrets (CFG-2)."""
        return self._fixed(headers, self._config_body)

    async def validate(
        self, headers: Mapping[str, str], chunks: AsyncIterable[bytes]
    ) -> WireAnswer:
        """``POST /api/v1/config/validate``: what is wrong with a document, which nobody applies
        (CFG-10). It raises ``ClientLeftError`` alone.
        """
        exchange = Exchange(request_id(self._random_bytes), headers)
        try:
            self._admit(exchange, trusted=False)
            document = await read_body(headers, chunks, MAX_DOCUMENT_BYTES)
            verdict = await self._validator.verdict(document)
        except ClientLeftError:
            raise
        except Exception as error:
            return self.failed(error, WireFormat.CHAT, exchange.id)
        return WireAnswer(200, verdict, {"content-type": JSON, **id_headers(exchange.id)})

    def _counted(self, exchange: Exchange, body: JsonValue) -> WireAnswer:
        """An estimate of the prompt's tokens, whichever model would get it (API-6)."""
        request = read_envelope(body)
        self._names.check(request.model)
        counted = orjson.dumps(count_body(request.body))
        return WireAnswer(200, counted, {"content-type": JSON, **id_headers(exchange.id)})

    def _fixed(self, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        exchange = Exchange(request_id(self._random_bytes), headers)
        try:
            self._admit(exchange, trusted=False)
        except RouterError as error:
            return self.failed(error, WireFormat.CHAT, exchange.id)
        return WireAnswer(200, body, {"content-type": JSON, **id_headers(exchange.id)})

    def failed(
        self, error: Exception, wire_format: WireFormat, id: str | None = None
    ) -> WireAnswer:
        """``error`` as an answer; what is no ``RouterError`` is a fault of the router's own."""
        id = id or request_id(self._random_bytes)
        if not isinstance(error, RouterError):
            logs.internal_error(error, id)
            error = RouterError(Code.INTERNAL, "the router failed; the request id names its log")
        answer = error_answer(error, wire_format)
        headers = id_headers(id) | public_headers(error_path(error.code))
        return WireAnswer(answer.status, answer.body, {**answer.headers, **headers})

    def _admit(self, exchange: Exchange, trusted: bool) -> Exchange:
        headers = exchange.headers
        caller = None if trusted else self._callers.identify(headers)
        seconds = timeout_seconds(headers)
        now = asyncio.get_running_loop().time()
        deadline = None if seconds is None else now + seconds
        return Exchange(exchange.id, headers, caller, deadline)
