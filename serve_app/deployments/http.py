"""The routes as an ASGI application (80-http).

The entrances with a body are plain ASGI endpoints: no request or response object of a framework
is built for them. FastAPI has the rest: errors of routing, the schema and its page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import asdict
from time import perf_counter
from typing import Final

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.deployments.exchange import Api
from serve_app.deployments.gateway import Gateway
from serve_app.deployments.openapi import CONFIG, VALIDATE, document
from serve_app.errors import Code, RouterError, WireFormat
from serve_app.telemetry import metrics
from serve_app.wire.answer import JSON, WireAnswer, WireStream
from serve_app.wire.body import ClientLeftError

CLIENT_LEFT: Final = 499
"""Counted as the status of a request whose client did not wait for its answer."""

WATCH_AFTER_S: Final = 0.005
"""Most answers without a provider are there by then."""


def create_app(gateway: Gateway) -> ASGIApp:
    """The application. It takes no part in lifespan: who made ``gateway`` closes its providers."""
    entrances = {api.value: Entrance(gateway, api) for api in Api}
    return Application(entrances, _framework(gateway, entrances))


class Application:
    """The entrances are looked up here, before the framework's middleware and router see a
    request; it knows their routes too, for a router that runs under a prefix.
    """

    def __init__(self, entrances: Mapping[str, Entrance], framework: ASGIApp) -> None:
        self._entrances = entrances
        self._framework = framework

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            entrance = self._entrances.get(scope["path"])
            if entrance is not None:
                await entrance(scope, receive, send)
                return
        await self._framework(scope, receive, send)


def _framework(gateway: Gateway, entrances: Mapping[str, Entrance]) -> FastAPI:
    app = FastAPI(title="System One router")
    app.openapi = document  # type: ignore[method-assign]
    for path, entrance in entrances.items():
        app.router.routes.append(Route(path, entrance, methods=["POST"]))

    async def models(request: Request) -> Response:
        return _whole(gateway.models(_headers(request.scope)))

    async def configuration(request: Request) -> Response:
        return _whole(gateway.configuration(_headers(request.scope)))

    async def validate(request: Request) -> Response:
        try:
            return _whole(await gateway.validate(_headers(request.scope), Body(request.receive)))
        except ClientLeftError:
            return Response(status_code=CLIENT_LEFT)

    async def health(request: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type=JSON)

    async def ready(request: Request) -> Response:
        states = await gateway.services.readiness()
        body = {
            "ready": all(state.ready for state in states.values()),
            "deployments": {
                name: {"ready": state.ready, "reason": state.reason}
                | ({} if state.model is None else {"model": asdict(state.model)})
                for name, state in states.items()
            },
        }
        return Response(orjson.dumps(body), 200 if body["ready"] else 503, media_type=JSON)

    async def exposition(request: Request) -> Response:
        return Response(metrics.render(), headers={"content-type": metrics.CONTENT_TYPE})

    for path, endpoint in {
        "/v1/models": models,
        CONFIG: configuration,
        "/health": health,
        "/ready": ready,
        "/metrics": exposition,
    }.items():
        app.router.routes.append(Route(path, endpoint, methods=["GET"]))
    app.router.routes.append(Route(VALIDATE, validate, methods=["POST"]))

    async def no_route(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        wire_format = WireFormat.SYSTEMONE if request.url.path == Api.SYSTEMONE else WireFormat.CHAT
        failure = (
            RouterError(Code.METHOD_NOT_ALLOWED, "the path does not take this method")
            if status == 405
            else RouterError(Code.NOT_FOUND, "there is nothing under this path")
        )
        response = _whole(gateway.failed(failure, wire_format))
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    app.add_exception_handler(404, no_route)
    app.add_exception_handler(405, no_route)
    return app


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
            answer = self._gateway.serve(self._api, _headers(scope), body)
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


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(n.encode("latin-1"), value.encode("latin-1")) for n, value in headers.items()]


def _whole(answer: WireAnswer) -> Response:
    return Response(answer.body, answer.status, dict(answer.headers))
