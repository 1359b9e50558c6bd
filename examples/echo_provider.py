"""A small provider that echoes: the whole path can be tried without a network. It speaks OpenAI's
Chat and Responses and Anthropic's Messages, as ``api_format`` of a model says.

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
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl

import orjson
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

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

    def speak(echoing: type[Echo]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            body = orjson.loads(await request.body())
            model, _, query = body["model"].partition("?")
            settings = Settings.read(query or os.environ.get("ECHO_SETTINGS", ""))
            call = Asked(body, dict(request.headers))
            calls[model].append(call)
            arrivals[model].set()
            if settings.status != 200:
                call.end("failed")
                error = echoing.error("told to fail")
                return JSONResponse(error, settings.status, {"retry-after": "1"})
            gate = gates[settings.hold] if settings.hold else None
            echo = echoing(body, model, settings, gate, call)
            if body.get("stream"):
                return StreamingResponse(echo.stream(), media_type="text/event-stream")
            return JSONResponse(await echo.whole(request))

        return endpoint

    for path, echoing in {
        "/v1/chat/completions": ChatEcho,
        "/v1/responses": ResponsesEcho,
        "/v1/messages": MessagesEcho,
    }.items():
        app.router.routes.append(Route(path, speak(echoing), methods=["POST"]))
    return app


class Echo(ABC):
    """One answer, a word a token."""

    def __init__(
        self,
        body: dict[str, Any],
        model: str,
        settings: Settings,
        gate: asyncio.Event | None,
        call: Asked,
    ) -> None:
        said = self.said(body)
        words = next((text for role, text in reversed(said) if role == "user"), "").split()
        self.body, self.model = body, model
        self._settings, self._gate, self._call = settings, gate, call
        self.tokens = [f"[{model}]", *(f" {word}" for word in words)]
        self.prompt = sum(len(text.split()) for _, text in said)
        self.created = int(time.time())

    @staticmethod
    def error(message: str) -> dict[str, Any]:
        error = {"message": message, "type": "server_error", "code": "echo_failure"}
        return {"error": error}

    @abstractmethod
    def said(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        """Role and text of each message."""

    @abstractmethod
    def answer(self) -> dict[str, Any]:
        """As a whole."""

    @abstractmethod
    def begin(self) -> Iterator[bytes]: ...

    @abstractmethod
    def token(self, token: str) -> bytes: ...

    @abstractmethod
    def finish(self) -> Iterator[bytes]: ...

    @property
    def text(self) -> str:
        return "".join(self.tokens)

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
        return self.answer()

    async def stream(self) -> AsyncIterator[bytes]:
        try:
            for event in self.begin():
                yield event
            async for token in self._paced():
                yield self.token(token)
            *events, last = self.finish()
            for event in events:
                yield event
            self._call.end("done")
            yield last
        finally:
            self._call.end("left")

    async def _make(self) -> None:
        async for _ in self._paced():
            pass

    async def _paced(self) -> AsyncIterator[str]:
        for count, token in enumerate(self.tokens):
            if self._settings.die_after == count:
                self._call.end("died")
                raise DeathError
            if self._gate is not None and count == 1:
                await self._gate.wait()
            if self._settings.delay:
                await asyncio.sleep(self._settings.delay)
            yield token


class ChatEcho(Echo):
    def said(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        return [(m["role"], _text(m.get("content"))) for m in body["messages"]]

    def answer(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage()}

    def begin(self) -> Iterator[bytes]:
        return iter(())

    def token(self, token: str) -> bytes:
        return self._chunk({"content": token}, None)

    def finish(self) -> Iterator[bytes]:
        yield self._chunk({}, "stop")
        if (self.body.get("stream_options") or {}).get("include_usage"):
            usage = {"choices": [], "usage": self._usage()}
            yield _event({**self._head("chat.completion.chunk"), **usage})
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, str], finish: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _usage(self) -> dict[str, int]:
        made = len(self.tokens)
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": made,
            "total_tokens": self.prompt + made,
        }

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": "echo", "object": kind, "created": self.created, "model": self.model}


class ResponsesEcho(Echo):
    def said(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        self._sent = 0
        given = body.get("input") or []
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        instructions = [("system", body.get("instructions") or "")]
        spoken = [item for item in items if "role" in item]
        return instructions + [(item["role"], _text(item.get("content"))) for item in spoken]

    def answer(self) -> dict[str, Any]:
        made = len(self.tokens)
        usage = {
            "input_tokens": self.prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.prompt + made,
        }
        item = self._item("completed", [self._part(self.text)])
        return {**self._response("completed"), "output": [item], "usage": usage}

    def begin(self) -> Iterator[bytes]:
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response=self._response("in_progress"))
        item = self._item("in_progress", [])
        yield self._event("response.output_item.added", output_index=0, item=item)
        yield self._event("response.content_part.added", **self._at(), part=self._part(""))

    def token(self, token: str) -> bytes:
        return self._event("response.output_text.delta", **self._at(), delta=token, logprobs=[])

    def finish(self) -> Iterator[bytes]:
        done = {"text": self.text, "logprobs": []}
        yield self._event("response.output_text.done", **self._at(), **done)
        yield self._event("response.content_part.done", **self._at(), part=self._part(self.text))
        item = self._item("completed", [self._part(self.text)])
        yield self._event("response.output_item.done", output_index=0, item=item)
        yield self._event("response.completed", response=self.answer())

    def _at(self) -> dict[str, Any]:
        return {"item_id": "msg_echo", "output_index": 0, "content_index": 0}

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _item(self, status: str, content: list[Any]) -> dict[str, Any]:
        head = {"id": "msg_echo", "type": "message", "role": "assistant"}
        return {**head, "status": status, "content": content}

    def _response(self, status: str) -> dict[str, Any]:
        head = {"id": "resp_echo", "object": "response", "created_at": self.created}
        rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return {**head, "status": status, "model": self.model, "output": [], **rest}

    def _event(self, kind: str, **members: Any) -> bytes:
        self._sent += 1
        data = {"type": kind, "sequence_number": self._sent - 1, **members}
        return b"event: " + kind.encode() + b"\n" + _event(data)


class MessagesEcho(Echo):
    @staticmethod
    def error(message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "api_error", "message": message}}

    def said(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        system = [("system", _text(body.get("system")))]
        return system + [(m["role"], _text(m.get("content"))) for m in body["messages"]]

    def answer(self) -> dict[str, Any]:
        usage = {"input_tokens": self.prompt, "output_tokens": len(self.tokens)}
        ended = {"stop_reason": "end_turn", "usage": usage}
        return {**self._message(), "content": [{"type": "text", "text": self.text}], **ended}

    def begin(self) -> Iterator[bytes]:
        yield self._event({"type": "message_start", "message": self._message()})
        block = {"type": "text", "text": ""}
        yield self._event({"type": "content_block_start", "index": 0, "content_block": block})

    def token(self, token: str) -> bytes:
        delta = {"type": "text_delta", "text": token}
        return self._event({"type": "content_block_delta", "index": 0, "delta": delta})

    def finish(self) -> Iterator[bytes]:
        yield self._event({"type": "content_block_stop", "index": 0})
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        usage = {"input_tokens": self.prompt, "output_tokens": len(self.tokens)}
        yield self._event({"type": "message_delta", "delta": delta, "usage": usage})
        yield self._event({"type": "message_stop"})

    def _message(self) -> dict[str, Any]:
        head = {"id": "msg_echo", "type": "message", "role": "assistant", "model": self.model}
        ended = {"stop_reason": None, "stop_sequence": None}
        usage = {"input_tokens": self.prompt, "output_tokens": 0}
        return {**head, "content": [], **ended, "usage": usage}

    def _event(self, data: dict[str, Any]) -> bytes:
        return b"event: " + str(data["type"]).encode() + b"\n" + _event(data)


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
    parser = argparse.ArgumentParser(description="A provider that echoes, in three formats.")
    parser.add_argument("--port", type=int, default=9000, help="0 takes a free one")
    arguments = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", arguments.port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
    uvicorn.Server(uvicorn.Config(create_app(), log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    main()
