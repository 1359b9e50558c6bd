"""The router for other Ray apps: the answers of HTTP over a Serve handle (SRV-15).

from serve_app.client import RouterClient

router = RouterClient.connect()
answers = await router.ask("I was charged twice.", {"angry": {"type": "noul", ...}})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, Self, TypedDict, cast

import orjson
from ray import serve
from ray.serve.handle import DeploymentHandle

from serve_app.deployments.asking.handles import result

JsonObject = dict[str, Any]


class Usage(TypedDict):
    input_tokens: int
    output_tokens: int


class Answers(TypedDict):
    """A System One response (20-system-one). Each of ``answers`` has a ``type``."""

    model: str
    answers: dict[str, JsonObject]
    usage: Usage
    sets: NotRequired[dict[str, JsonObject]]
    spans: NotRequired[dict[str, list[JsonObject]]]
    thresholds: NotRequired[dict[str, float]]


class Preview(TypedDict):
    """A routing preview (API-9)."""

    recipe: str
    decision: str | None
    model: str | None
    rules: list[JsonObject]
    decisions: list[JsonObject]
    calls: list[JsonObject]


class RouterCallError(Exception):
    """The router answered with an error: ``status`` and ``body`` as over HTTP."""

    def __init__(self, status: int, body: JsonObject, headers: Mapping[str, str]) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body
        self.headers = dict(headers)

    @property
    def retry_after_s(self) -> float | None:
        """Seconds to wait before asking again, where the router says so."""
        value = self.headers.get("retry-after")
        return None if value is None else float(value)


class RouterClient:
    """Asks, previews and routes. Use it in async code: in a Serve deployment, an actor, a driver
    that runs an event loop.
    """

    def __init__(self, handle: DeploymentHandle[Any]) -> None:
        self._handle = handle

    @classmethod
    def connect(cls, app: str = "router") -> Self:
        """The client of a running application of this cluster."""
        return cls(serve.get_app_handle(app))

    async def ask(
        self,
        state: Any,
        questions: Mapping[str, Mapping[str, Any]],
        *,
        model: str = "jev-latest",
        deadline_ms: int | None = None,
    ) -> Answers:
        """Typed questions about one state. ``deadline_ms``: late questions say so in place."""
        body: JsonObject = {"model": model, "state": state, "questions": questions}
        if deadline_ms is not None:
            body["options"] = {"deadline_ms": deadline_ms}
        return cast(Answers, await self._call(self._handle.ask, body))

    async def preview(self, request: str | Mapping[str, Any]) -> Preview:
        """What the router would do with a text or a body of any format; no chat model is called."""
        body = {"text": request} if isinstance(request, str) else request
        return cast(Preview, await self._call(self._handle.preview, body))

    async def route(self, body: Mapping[str, Any]) -> JsonObject:
        """A Chat completion for a Chat body, whole."""
        return await self._call(self._handle.route, {**body, "stream": False})

    async def respond(self, body: Mapping[str, Any]) -> JsonObject:
        """A response for a body of OpenAI's Responses, whole."""
        return await self._call(self._handle.respond, {**body, "stream": False})

    async def message(self, body: Mapping[str, Any]) -> JsonObject:
        """A message for a body of Anthropic's Messages, whole."""
        return await self._call(self._handle.message, {**body, "stream": False})

    async def _call(self, method: DeploymentHandle[Any], body: Mapping[str, Any]) -> JsonObject:
        answer = await result(method.remote(body))
        content: JsonObject = orjson.loads(answer.body)
        if answer.status >= 400:
            raise RouterCallError(answer.status, content, answer.headers)
        return content
