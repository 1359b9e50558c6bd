"""Calls to the chat models' backends: keep-alive, streaming, failover (API-2, API-3, API-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from random import Random
from ssl import SSLContext
from typing import Final

import httpx

from serve_app.config.schema.providers import Backend, ProviderModel
from serve_app.errors import Code, RouterError
from serve_app.providers.answers import Call, Failure, StreamAnswer, WholeAnswer
from serve_app.providers.backends import order
from serve_app.providers.connection import Connection
from serve_app.providers.formats import PATHS
from serve_app.providers.headers import to_client, to_provider
from serve_app.providers.network import Transport
from serve_app.providers.relay import Relay
from serve_app.providers.tls import tls_context

MAX_ATTEMPTS: Final = 3
"""Backends tried per model; each is tried once."""

KEEPALIVE_S: Final = 15.0
MAX_KEEPALIVE: Final = 100

Observe = Callable[[str, str], None]
"""Told of each attempt's end: the model's logical name, and a label."""

Encode = Callable[[ProviderModel], Call]
"""The body for a model, in the format that its backends speak."""


class UnansweredError(RouterError):
    """No provider said anything that the client could be told. ``model``: the one last tried."""

    def __init__(self, code: Code, message: str, model: str | None) -> None:
        super().__init__(code, message)
        self.model = model


class ChatProviders:
    """One HTTP client per backend, for the life of the policy; ``aclose`` ends them.

    ``env`` holds the keys that ``api_key_env`` names, ``rng`` draws the backends.
    """

    def __init__(
        self,
        models: Iterable[ProviderModel],
        *,
        env: Mapping[str, str],
        rng: Random,
        observe: Observe,
    ) -> None:
        tls = tls_context()
        self._models = {
            model.name: (model, [_Upstream(model, backend, env, tls) for backend in model.backends])
            for model in models
        }
        self._rng = rng
        self._observe = observe

    async def aclose(self) -> None:
        for _, upstreams in self._models.values():
            for upstream in upstreams:
                await upstream.client.aclose()

    async def complete(
        self,
        models: Sequence[str],
        encode: Encode,
        headers: Mapping[str, str],
        deadline: float | None = None,
    ) -> WholeAnswer | StreamAnswer:
        """Asks the models in turn, each at its backends in turn, until one does not fail.

        An answer that is no success is the last that a provider gave, as it said it;
        ``UnansweredError`` if none said anything, or none by ``deadline`` on the event loop's
        clock. Nothing is asked again once an answer has begun.
        """
        said: WholeAnswer | None = None
        message, name = "no model to ask", None
        try:
            async with asyncio.timeout_at(deadline):
                for name in models:
                    model, upstreams = self._models[name]
                    call = encode(model)
                    for index in order(model.backends, self._rng)[:MAX_ATTEMPTS]:
                        result = await upstreams[index].ask(call, headers, self._observe)
                        if not isinstance(result, Failure):
                            return result
                        said, message = result.answer or said, result.message
        except TimeoutError:
            late = "the request's own deadline passed"
            raise UnansweredError(Code.DEADLINE_EXCEEDED, late, name) from None
        if said is not None:
            return said
        raise UnansweredError(Code.PROVIDER_FAILED, message, name)


class _Upstream:
    """One backend: its client, address and key."""

    def __init__(
        self, model: ProviderModel, backend: Backend, env: Mapping[str, str], tls: SSLContext
    ) -> None:
        self._model = model.name
        self._api_format = model.api_format
        self.client = httpx.AsyncClient(
            transport=Transport(tls, max_keepalive=MAX_KEEPALIVE, keepalive_s=KEEPALIVE_S),
            timeout=backend.timeout_ms / 1000,
            follow_redirects=False,
            trust_env=False,
        )
        self._url = httpx.URL(str(backend.base_url).rstrip("/") + PATHS[model.api_format])
        self._key = env.get(backend.api_key_env) if backend.api_key_env else None

    async def ask(
        self, call: Call, headers: Mapping[str, str], observe: Observe
    ) -> WholeAnswer | StreamAnswer | Failure:
        model = self._model
        sent = to_provider(headers, self._key, self._api_format, relayed=call.relayed)
        raw = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in sent.items()]
        request = self.client.build_request(
            "POST",
            self._url,
            content=call.content,
            headers=raw,
            extensions={"trace": Connection().trace},
        )
        try:
            result = await self._send(request, call.relayed, partial(observe, model))
        except httpx.TimeoutException:
            result = Failure("timeout", f"the provider of {model} did not answer in time")
        except httpx.TransportError:
            result = Failure("connection_error", f"the provider of {model} cannot be reached")
        except httpx.DecodingError:
            result = Failure("undecodable", f"the answer of {model} is not in its own encoding")
        if isinstance(result, Failure):
            observe(model, result.outcome)
        elif isinstance(result, WholeAnswer):
            observe(model, "ok" if result.status < 400 else f"status_{result.status}")
        return result

    async def _send(
        self, request: httpx.Request, relayed: bool, ended: Callable[[str], None]
    ) -> WholeAnswer | StreamAnswer | Failure:
        model = self._model
        response = await self.client.send(request, stream=True)
        status = response.status_code
        raw = response.headers.raw
        decoded = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
        headers = to_client(decoded, relayed=relayed)
        chunks = response.aiter_raw() if relayed else response.aiter_bytes()
        if status < 300 and headers.get("content-type", "").startswith("text/event-stream"):
            try:
                first = await anext(chunks, b"")
            except BaseException:
                await response.aclose()
                raise
            return StreamAnswer(model, status, headers, Relay(response, first, chunks, ended))
        try:
            body = b"".join([chunk async for chunk in chunks])
        finally:
            await response.aclose()
        answer = WholeAnswer(model, status, headers, body)
        if 300 <= status < 400:
            return Failure(f"status_{status}", f"the provider of {model} redirects elsewhere")
        if status == 429 or status >= 500:
            return Failure(f"status_{status}", f"the provider of {model} failed", answer)
        return answer
