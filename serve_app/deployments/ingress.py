"""The entrance of the graph (SRV-1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ray import serve
from ray.serve.handle import DeploymentHandle
from starlette.types import Receive, Scope, Send

from models.questions.types import JsonValue
from serve_app.deployments.api.endpoints import Endpoints
from serve_app.deployments.graph import Graph
from serve_app.deployments.process.profile import UNTUNED
from serve_app.deployments.process.replica import prepare_replica
from serve_app.deployments.rollout.policy import Policy
from serve_app.deployments.rollout.versions import Closing, keeping_what_runs
from serve_app.wire.answer import WireAnswer

logger = logging.getLogger(__name__)


@serve.ingress()
class Ingress:
    """Each policy has endpoints of its own: a request ends with those that it began with."""

    def __init__(
        self, planner: DeploymentHandle[Any], models: Mapping[str, DeploymentHandle[Any]]
    ) -> None:
        if not prepare_replica().tuned:
            logger.warning(UNTUNED)
        self._planner = planner
        self._models = models
        self._endpoints: Endpoints | None = None
        self._closing = Closing()

    async def reconfigure(self, user_config: Mapping[str, Any]) -> None:
        """Serve lists no replica that has yet to return from here: what takes long comes first, in
        a new one alone."""
        replaced = self._endpoints
        with keeping_what_runs(replaced is not None):
            graph = Graph(Policy.of(user_config), self._planner, self._models)
            endpoints = Endpoints(graph)
            if replaced is None:
                await graph.connected()
            else:
                self._closing.begin(replaced)
            self._endpoints = endpoints

    def __serve_build_asgi_app__(self) -> Any:
        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await self._lifespan(receive, send)
            else:
                await self._now.app(scope, receive, send)

        return application

    async def ask(self, body: JsonValue) -> WireAnswer:
        return await self._now.ask(body)

    async def preview(self, body: JsonValue) -> WireAnswer:
        return await self._now.preview(body)

    async def route(self, body: JsonValue) -> WireAnswer:
        return await self._now.route(body)

    async def respond(self, body: JsonValue) -> WireAnswer:
        return await self._now.respond(body)

    async def message(self, body: JsonValue) -> WireAnswer:
        return await self._now.message(body)

    @property
    def _now(self) -> Endpoints:
        """Serve calls ``reconfigure`` before it brings a request."""
        assert self._endpoints is not None
        return self._endpoints

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        """Serve ends it when the replica has drained."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self._endpoints is not None:
            await self._endpoints.aclose()
        await send({"type": "lifespan.shutdown.complete"})
