"""A provider that says the same in OpenAI Chat, OpenAI Responses and Anthropic Messages.

Written by hand after the formats' documentation, without the router's own codecs. ``model`` names
what it does:

    text      says a few words
    tools     says a word and calls a tool twice at once
    refuses   answers 429 before anything else
    fails     tells of an error in the midst of a stream
    breaks    drops the connection in the midst of a stream
    waits     says a word and then nothing, but for comments, until its client leaves
    gzip      as ``text``, compressed though nobody asked
    pieces    as ``text``, a byte at a time
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.doubles.polyglot_answers import (
    CHAT,
    MESSAGES,
    RESPONSES,
    Answer,
    Dialect,
)

TEXT = Answer(text=("Hel", "lo ", "thére."))
TOOLS = Answer(
    text=("Looking.",),
    calls=(("call_1", "look", ('{"city":', '"Bern"}')), ("call_2", "look", ('{"city":"Ürümqi"}',))),
)


class Provider:
    """``app``, and what it was asked: bodies and headers, in order. ``left``: set when a client
    closed its connection before the end."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.left = asyncio.Event()
        routes = {"chat/completions": CHAT, "responses": RESPONSES, "messages": MESSAGES}
        self.app = Starlette(
            routes=[
                Route(f"/v1/{path}", self._endpoint(dialect), methods=["POST"])
                for path, dialect in routes.items()
            ]
        )

    def _endpoint(self, dialect: Dialect) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            self.raw.append(await request.body())
            self.bodies.append(orjson.loads(self.raw[-1]))
            self.headers.append(dict(request.headers))
            model = self.bodies[-1]["model"].partition("-")[0]
            if model == "refuses":
                return _json(dialect.error("slow down"), 429, {"retry-after": "7"})
            answer = TOOLS if model == "tools" else TEXT
            if self.bodies[-1].get("stream"):
                events = list(dialect.stream(self.bodies[-1], answer))
                return self._stream(model, dialect, events)
            body = orjson.dumps(dialect.whole(self.bodies[-1], answer))
            if model == "gzip":
                return Response(
                    gzip.compress(body),
                    headers={"content-type": "application/json", "content-encoding": "gzip"},
                )
            return Response(body, media_type="application/json")

        return endpoint

    def _stream(self, model: str, dialect: Dialect, events: list[bytes]) -> Response:
        headers = {"content-type": "text/event-stream"}
        half = dialect.half(events)
        match model:
            case "fails":
                events = [*half, dialect.failure("it broke")]
                return StreamingResponse(_hanging(events), 200, headers)
            case "breaks":
                return StreamingResponse(_broken(half), 200, headers)
            case "waits":
                return StreamingResponse(self._waiting(half), 200, headers)
            case "gzip":
                body = gzip.compress(b"".join(events))
                encoded = {**headers, "content-encoding": "gzip"}
                return StreamingResponse(_each([body[:20], body[20:]]), 200, encoded)
            case "pieces":
                stream = b"".join(events)
                return StreamingResponse(
                    _each([stream[i : i + 1] for i in range(len(stream))]), 200, headers
                )
        return StreamingResponse(_each(events), 200, headers)

    async def _waiting(self, events: list[bytes]) -> AsyncIterator[bytes]:
        try:
            for event in events:
                yield event
            while True:
                await asyncio.sleep(0.02)
                yield b": still here\n\n"
        finally:
            self.left.set()


def _json(body: Any, status: int, headers: dict[str, str]) -> Response:
    return Response(orjson.dumps(body), status, {**headers, "content-type": "application/json"})


async def _each(events: Iterator[bytes] | list[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event


async def _hanging(events: list[bytes]) -> AsyncIterator[bytes]:
    """What fails leaves its connection open."""
    for event in events:
        yield event
    await asyncio.sleep(0.5)


async def _broken(events: list[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event
        await asyncio.sleep(0.01)
    raise ConnectionError("told to break")
