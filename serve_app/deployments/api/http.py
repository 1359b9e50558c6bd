"""The routes as an ASGI application (80-http).

The entrances with a body are plain ASGI endpoints. FastAPI has the rest: errors of routing, the
schema and its page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.deployments.api.asgi import CLIENT_LEFT, Body, Entrance, headers_of
from serve_app.deployments.api.exchange import Api, format_under
from serve_app.deployments.api.gateway import Gateway
from serve_app.deployments.api.openapi import CONFIG, VALIDATE, document
from serve_app.errors import Code, RouterError
from serve_app.telemetry import metrics
from serve_app.wire.answer import JSON, WireAnswer
from serve_app.wire.body import ClientLeftError


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
        return _whole(gateway.models(headers_of(request.scope)))

    async def configuration(request: Request) -> Response:
        return _whole(gateway.configuration(headers_of(request.scope)))

    async def validate(request: Request) -> Response:
        try:
            return _whole(await gateway.validate(headers_of(request.scope), Body(request.receive)))
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
        failure = (
            RouterError(Code.METHOD_NOT_ALLOWED, "the path does not take this method")
            if status == 405
            else RouterError(Code.NOT_FOUND, "there is nothing under this path")
        )
        response = _whole(gateway.failed(failure, format_under(request.url.path)))
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    app.add_exception_handler(404, no_route)
    app.add_exception_handler(405, no_route)
    return app


def _whole(answer: WireAnswer) -> Response:
    return Response(answer.body, answer.status, dict(answer.headers))
