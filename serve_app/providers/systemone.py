"""A remote System One API over HTTP: one body there, one answer back (CFG-3, MRG-7).

What an answer means is ``serve_app.asking.remote``'s; here is what can go wrong on the way.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from math import isfinite
from ssl import SSLContext
from typing import Any, Final

import httpx
import orjson

from models.questions.types import AnswerError, JsonValue
from serve_app.asking.remote.exchange import RemoteAnswer, RemoteError
from serve_app.config.schema.catalog import RemoteDeployment

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""Of one answer: a batch of 4,096 states with three choices of 20 options each is as large."""

KEEPALIVE_S: Final = 15.0
MAX_KEEPALIVE: Final = 100

MAX_RETRY_AFTER_S: Final = 3600.0

Observe = Callable[[str], None]
"""Told of each exchange's end: ``status_<n>``, ``timeout``, ``connection_error``, ``too_large``,
``encoded``, or ``cancelled``.
"""


def tls_context() -> SSLContext:
    """Trusts the system's authorities, and no file that the environment names."""
    return httpx.create_ssl_context(trust_env=False)


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
        self._client = httpx.AsyncClient(
            verify=tls,
            timeout=None,
            limits=httpx.Limits(
                max_connections=None,
                max_keepalive_connections=MAX_KEEPALIVE,
                keepalive_expiry=KEEPALIVE_S,
            ),
            follow_redirects=False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def send(self, body: dict[str, Any], timeout_s: float | None) -> RemoteAnswer:
        """Posts ``body``; ``RemoteError`` without a whole answer after ``timeout_s``.

        The API is told how long it is waited for, as this project's own reads it (SRV-9).
        """
        headers = dict(self._headers)
        if timeout_s is not None:
            headers["x-vsr-timeout-seconds"] = f"{max(timeout_s, 0.001):.3f}"
        content = _json(body)
        outcome = "cancelled"
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._post(content, headers)
            outcome = f"status_{answer.status}"
            return answer
        except TimeoutError:
            outcome = "timeout"
            raise RemoteError(AnswerError.DEADLINE_EXCEEDED) from None
        except _UnreadableError as error:
            outcome = error.outcome
            raise RemoteError(AnswerError.UNAVAILABLE) from None
        except (httpx.TransportError, httpx.InvalidURL, UnicodeEncodeError):
            outcome = "connection_error"
            raise RemoteError(AnswerError.UNAVAILABLE) from None
        finally:
            self._observe(outcome)

    async def _post(self, content: bytes, headers: Mapping[str, str]) -> RemoteAnswer:
        connection = _Connection()
        try:
            return await self._exchange(content, headers, connection)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # A server may close a kept connection just when it is used again. It then has not
            # read the call, and no fresh connection would have failed (RFC 9110, 9.2.2).
            if connection.fresh or connection.answered:
                raise
        return await self._exchange(content, headers, connection)

    async def _exchange(
        self, content: bytes, headers: Mapping[str, str], connection: _Connection
    ) -> RemoteAnswer:
        request = self._client.build_request(
            "POST",
            self._url,
            content=content,
            headers=dict(headers),
            extensions={"trace": connection.trace},
        )
        response = await self._client.send(request, stream=True)
        try:
            received = await _read(response)
        finally:
            await response.aclose()
        return RemoteAnswer(response.status_code, _parsed(received), _retry_after(response.headers))


class _UnreadableError(Exception):
    """The answer is not read to its end; ``outcome`` says why."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class _Connection:
    """What an exchange's connection went through. ``fresh``: it was opened for this exchange."""

    def __init__(self) -> None:
        self.fresh = False
        self.answered = False
        self._waited = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """An httpcore trace extension.

        What is there without a turn of the event loop was sent before this call was: surplus
        bytes behind another call's answer, and no answer to this one. httpcore closes a
        connection whose trace raises.
        """
        if event == "connection.connect_tcp.started":
            self.fresh = True
        elif event.endswith("receive_response_headers.started"):
            self._waited = False
            asyncio.get_running_loop().call_soon(self._wait)
        elif event.endswith("receive_response_headers.complete"):
            if not self._waited:
                raise httpx.RemoteProtocolError("an answer that came before its call")
            self.answered = True

    def _wait(self) -> None:
        self._waited = True


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
