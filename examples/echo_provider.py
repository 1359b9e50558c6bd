"""A small OpenAI-compatible provider that echoes: the whole path can be tried without a network.

    python examples/echo_provider.py [--port 9000]

It answers every model with its name and the last user message, whole or as a stream, a word a
token. ``model`` may carry settings after a ``?``, to try what providers do at times:

    any-name?delay=0.2      seconds before each token
    any-name?status=429     fail with this status
    any-name?die_after=2    drop the connection after so many tokens
    any-name?hold=gate      after the first token, wait until somebody does POST /gates/gate

The same settings in the environment variable ``ECHO_SETTINGS`` hold for every model that has
none of its own. ``GET /asked/{name}`` tells of the calls to a model: bodies, headers, and how they
ended; with ``?wait=asked`` once there is one, with ``?wait=ended`` once the last has ended.
``GET /asked`` counts them, by model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl

import orjson
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

MODELS = ("qwen3-8b", "qwen3-235b")


@dataclass
class Settings:
    delay: float = 0.0
    status: int = 200
    die_after: int | None = None
    hold: str | None = None

    @classmethod
    def read(cls, query: str) -> Settings:
        given = dict(parse_qsl(query))
        die_after = given.get("die_after")
        return cls(
            delay=float(given.get("delay", 0)),
            status=int(given.get("status", 200)),
            die_after=None if die_after is None else int(die_after),
            hold=given.get("hold"),
        )


@dataclass
class Asked:
    """One call. ``how`` it ended: ``done``, ``left`` by its client, ``died`` or ``failed``."""

    body: dict[str, Any]
    headers: dict[str, str]
    how: str = ""
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self, how: str) -> None:
        self.how = self.how or how
        self.ended.set()


class DeathError(Exception):
    """Makes the server drop the connection without ending the response."""


def create_app() -> FastAPI:
    app = FastAPI(title="Echo provider")
    calls: dict[str, list[Asked]] = defaultdict(list)
    arrivals: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
    gates: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        data = [{"id": m, "object": "model", "created": 0, "owned_by": "echo"} for m in MODELS]
        return {"object": "list", "data": data}

    @app.get("/asked")
    async def counts() -> dict[str, int]:
        return {model: len(made) for model, made in calls.items() if made}

    @app.get("/asked/{model}")
    async def asked(
        model: str, wait: Literal["asked", "ended"] | None = None
    ) -> list[dict[str, Any]]:
        if wait:
            await arrivals[model].wait()
        if wait == "ended":
            await calls[model][-1].ended.wait()
        return [{"body": c.body, "headers": c.headers, "how": c.how} for c in calls[model]]

    @app.post("/gates/{name}")
    async def open_gate(name: str) -> None:
        gates[name].set()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Response:
        body = orjson.loads(await request.body())
        model, _, query = body["model"].partition("?")
        settings = Settings.read(query or os.environ.get("ECHO_SETTINGS", ""))
        call = Asked(body, dict(request.headers))
        calls[model].append(call)
        arrivals[model].set()
        if settings.status != 200:
            call.end("failed")
            error = {"message": "told to fail", "type": "server_error", "code": "echo_failure"}
            return JSONResponse({"error": error}, settings.status, {"retry-after": "1"})
        gate = gates[settings.hold] if settings.hold else None
        echo = Echo(body, model, settings, gate, call)
        if body.get("stream"):
            return StreamingResponse(echo.stream(), media_type="text/event-stream")
        return JSONResponse(await echo.whole(request))

    return app


class Echo:
    """One completion."""

    def __init__(
        self,
        body: dict[str, Any],
        model: str,
        settings: Settings,
        gate: asyncio.Event | None,
        call: Asked,
    ) -> None:
        said = [m for m in body["messages"] if m["role"] == "user"]
        words = _text(said[-1]["content"]).split() if said else []
        self._model, self._settings, self._gate, self._call = model, settings, gate, call
        self._tokens = [f"[{model}]", *(f" {word}" for word in words)]
        options = body.get("stream_options") or {}
        self._include_usage = bool(options.get("include_usage"))
        prompt = sum(len(_text(m.get("content")).split()) for m in body["messages"])
        made = len(self._tokens)
        self._usage = {
            "prompt_tokens": prompt,
            "completion_tokens": made,
            "total_tokens": prompt + made,
        }

    async def whole(self, request: Request) -> dict[str, Any]:
        making = asyncio.ensure_future(self._make())
        leaving = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((making, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not making.done():
                self._call.end("left")
                return {}
            making.result()
        finally:
            making.cancel()
            leaving.cancel()
        self._call.end("done")
        message = {"role": "assistant", "content": "".join(self._tokens)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage}

    async def stream(self) -> AsyncIterator[bytes]:
        try:
            async for token in self._paced():
                yield self._event({"content": token}, None)
            yield self._event({}, "stop")
            if self._include_usage:
                usage = {"choices": [], "usage": self._usage}
                yield _event({**self._head("chat.completion.chunk"), **usage})
            self._call.end("done")
            yield b"data: [DONE]\n\n"
        finally:
            self._call.end("left")

    async def _make(self) -> None:
        async for _ in self._paced():
            pass

    async def _paced(self) -> AsyncIterator[str]:
        for count, token in enumerate(self._tokens):
            if self._settings.die_after == count:
                self._call.end("died")
                raise DeathError
            if self._gate is not None and count == 1:
                await self._gate.wait()
            if self._settings.delay:
                await asyncio.sleep(self._settings.delay)
            yield token

    def _event(self, delta: dict[str, str], finish: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": "echo", "object": kind, "created": int(time.time()), "model": self._model}


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(data) + b"\n\n"


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content)
    return content or ""


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible provider that echoes.")
    parser.add_argument("--port", type=int, default=9000, help="0 takes a free one")
    arguments = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", arguments.port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
    uvicorn.Server(uvicorn.Config(create_app(), log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    main()
