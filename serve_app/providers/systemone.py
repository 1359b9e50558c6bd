"""A remote System One API over HTTP: one body there, one answer back (CFG-3, MRG-7).

What an answer means is ``serve_app.asking.remote``'s; here is what can go wrong on the way.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from ssl import SSLContext
from typing import Any, Final

import httpx
import orjson

from models.questions.types import AnswerError, JsonValue
from serve_app.asking.remote.exchange import RemoteAnswer, RemoteError
from serve_app.config.schema.catalog import RemoteDeployment
from serve_app.providers.connection import Connection
from serve_app.providers.network import Transport

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""Of one answer: a batch of 4,096 states with three choices of 20 options each is as large."""

KEEPALIVE_S: Final = 15.0
MAX_KEEPALIVE: Final = 100

MAX_RETRY_AFTER_S: Final = 3600.0

Observe = Callable[[str], None]
"""Told of each exchange's end: ``status_<n>``, ``timeout``, ``connection_error``, ``too_large``,
``encoded``, or ``cancelled``.
"""


class SystemOneApi:
    """The HTTP client of one remote deployment. ``env`` holds the key that ``api_key_env`` names;
    ``tls`` is shared by many, since making one takes tens of milliseconds.

    Redirects are not followed: the key goes to the endpoint alone.
    """

    def __init__(
        self,
        deployment: RemoteDeployment,
        *,
        env: Mapping[str, str],
        observe: Observe,
        tls: SSLContext,
    ) -> None:
        self._url = httpx.URL(str(deployment.endpoint))
        self._headers = {"content-type": "application/json", "accept-encoding": "identity"}
        key = env.get(deployment.api_key_env, "").strip() if deployment.api_key_env else ""
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        self._observe = observe
        self._client = _client(tls, MAX_KEEPALIVE)
        self._unkept = _client(tls, 0)

    async def aclose(self) -> None:
        await self._client.aclose()
        await self._unkept.aclose()

    async def send(
        self, body: dict[str, Any], timeout_s: float | None, fresh: bool = False
    ) -> RemoteAnswer:
        """Posts ``body``; ``RemoteError`` without a whole answer after ``timeout_s``. ``fresh``:
        over a connection of its own, and once.

        The API is told how long it is waited for, as this project's own reads it (SRV-9).
        """
        connection = Connection()
        headers = dict(self._headers)
        if timeout_s is not None:
            headers["x-vsr-timeout-seconds"] = f"{max(timeout_s, 0.001):.3f}"
        content = _json(body)
        outcome = "cancelled"
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._post(content, headers, connection, fresh)
            outcome = f"status_{answer.status}"
            return replace(answer, posts=connection.exchanges)
        except TimeoutError:
            outcome = "timeout"
            raise RemoteError(AnswerError.DEADLINE_EXCEEDED, connection.exchanges) from None
        except _UnreadableError as error:
            outcome = error.outcome
            raise RemoteError(AnswerError.UNAVAILABLE, connection.exchanges) from None
        except (httpx.TransportError, httpx.InvalidURL, UnicodeEncodeError):
            outcome = "connection_error"
            raise RemoteError(AnswerError.UNAVAILABLE, connection.exchanges) from None
        finally:
            self._observe(outcome)

    async def _post(
        self, content: bytes, headers: Mapping[str, str], connection: Connection, fresh: bool
    ) -> RemoteAnswer:
        client = self._unkept if fresh else self._client
        try:
            return await self._exchange(client, content, headers, connection)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # A server may close a kept connection just when it is used again. It then has not
            # read the call, and no fresh connection would have failed (RFC 9110, 9.2.2).
            if connection.fresh or connection.answered:
                raise
        return await self._exchange(self._unkept, content, headers, connection)

    async def _exchange(
        self,
        client: httpx.AsyncClient,
        content: bytes,
        headers: Mapping[str, str],
        connection: Connection,
    ) -> RemoteAnswer:
        connection.exchanges += 1
        request = client.build_request(
            "POST",
            self._url,
            content=content,
            headers=dict(headers),
            extensions={"trace": connection.trace},
        )
        response = await client.send(request, stream=True)
        try:
            received = await _read(response)
        finally:
            await response.aclose()
        return RemoteAnswer(response.status_code, _parsed(received), _retry_after(response.headers))


def _client(tls: SSLContext, keepalive: int) -> httpx.AsyncClient:
    transport = Transport(tls, max_keepalive=keepalive, keepalive_s=KEEPALIVE_S)
    return httpx.AsyncClient(
        transport=transport, timeout=None, follow_redirects=False, trust_env=False
    )


class _UnreadableError(Exception):
    """The answer is not read to its end; ``outcome`` says why."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


async def _read(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise _UnreadableError("encoded")  # asked not to; what it inflates to has no bound
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared[:20]) > MAX_ANSWER_BYTES:
        raise _UnreadableError("too_large")
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > MAX_ANSWER_BYTES:
            raise _UnreadableError("too_large")
    return bytes(received)


def _json(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, half of a surrogate pair
        return json.dumps(body).encode()


def _parsed(data: bytes) -> JsonValue:
    """``None`` for what is no JSON. A stray NaN spoils its own number and nothing beside it."""
    try:
        parsed: JsonValue = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            parsed = json.loads(data)
        except (ValueError, RecursionError):
            return None
    return parsed


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; a date is not read."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if isfinite(seconds) and 0 <= seconds <= MAX_RETRY_AFTER_S:
            return seconds
    return None
