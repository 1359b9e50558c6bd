"""An entrance as a plain ASGI endpoint, which stops when its client leaves (API-3, BUD-4).

No request or response object of a framework is built for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from time import perf_counter
from typing import Final

from starlette.types import Receive, Scope, Send

from serve_app.deployments.api.exchange import Api
from serve_app.deployments.api.gateway import Gateway
from serve_app.telemetry import metrics
from serve_app.wire.answer import WireAnswer, WireStream
from serve_app.wire.body import ClientLeftError

CLIENT_LEFT: Final = 499
"""Counted as the status of a request whose client did not wait for its answer."""

WATCH_AFTER_S: Final = 0.005
"""Most answers without a provider are there by then."""


class Entrance:
    """An ASGI endpoint for one entrance."""

    def __init__(self, gateway: Gateway, api: Api) -> None:
        self._gateway = gateway
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        body = Body(receive)
        status = CLIENT_LEFT
        try:
            answer = self._gateway.serve(self._api, headers_of(scope), body)
            status = await _while_connected(_answered(answer, send), body)
        except ClientLeftError:
            pass
        finally:
            metrics.observe_request(self._api.value, status, perf_counter() - began)


class Body:
    """The chunks of a request's body, and then the end of its connection."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._read = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientLeftError
            more = message.get("more_body", False)
            yield message.get("body", b"")
        self._read.set()

    async def left(self) -> None:
        """Returns when the client closed its connection, having sent its whole body."""
        await self._read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def _while_connected(work: Awaitable[int], body: Body) -> int:
    """The result of ``work``, which is cancelled if the client leaves first (API-3, BUD-4).

    Serve's servers cancel it by themselves, unless a header of the client's forbids them to
    watch; others tell ``receive`` alone.
    """
    watch = _Watch(body)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.ended_it():
            raise ClientLeftError from None
        raise
    finally:
        watch.stop()


class _Watch:
    """Cancels the running task if the client leaves. It costs a task, so it begins when the
    answer is not there within ``WATCH_AFTER_S``.
    """

    def __init__(self, body: Body) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._body = body
        self._left = False
        self._watching: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(WATCH_AFTER_S, self._begin)

    def ended_it(self) -> bool:
        """Whether it alone cancelled the task; asked once, where that shows."""
        return self._left and self._task.uncancel() <= self._cancelling

    def stop(self) -> None:
        self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()

    def _begin(self) -> None:
        self._watching = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        await self._body.left()
        self._left = True
        self._task.cancel()


async def _answered(coming: Awaitable[WireAnswer | WireStream], send: Send) -> int:
    """Sends the answer when it is there; its status."""
    answer = await coming
    if isinstance(answer, WireAnswer):
        headers = _raw(answer.headers)
        headers.append((b"content-length", str(len(answer.body)).encode()))
        start = {"type": "http.response.start", "status": answer.status, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})
        return answer.status
    try:
        headers = _raw(answer.headers)
        start = {"type": "http.response.start", "status": answer.status, "headers": headers}
        await send(start)
        async for chunk in answer.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        await answer.aclose()
    return answer.status


def headers_of(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(n.encode("latin-1"), value.encode("latin-1")) for n, value in headers.items()]
