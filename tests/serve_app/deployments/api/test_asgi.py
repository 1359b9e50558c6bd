"""The ASGI side of the entrances, where a client leaves at an awkward time (API-3, BUD-4)."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from serve_app.deployments.api.asgi import Entrance
from serve_app.deployments.api.exchange import Api
from serve_app.telemetry import metrics
from serve_app.wire.answer import WireAnswer, WireStream

LEFT = {"type": "http.disconnect"}


def part(body: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


class PlayedGateway:
    """Reads the body and answers with ``answer``; with ``None`` it never does."""

    def __init__(self, answer: WireAnswer | WireStream | None) -> None:
        self.answer = answer
        self.body: bytes | None = None

    async def serve(self, api: Api, headers: Any, chunks: Any) -> WireAnswer | WireStream:
        self.body = b"".join([chunk async for chunk in chunks])
        if self.answer is None:
            await asyncio.Event().wait()
        assert self.answer is not None
        return self.answer


class PlayedStream:
    """Chunks without end, and whether they were closed."""

    def __init__(self) -> None:
        self.closed = False

    def __aiter__(self) -> PlayedStream:
        return self

    async def __anext__(self) -> bytes:
        return b"data: x\n\n"

    async def aclose(self) -> None:
        self.closed = True


async def exchange(gateway: PlayedGateway, *messages: dict[str, Any], **sending: Any) -> list[Any]:
    """What was sent to a client that sent ``messages`` and, after them, nothing more."""
    coming, sent = list(messages), []

    async def receive() -> dict[str, Any]:
        if not coming:
            await asyncio.Event().wait()
        return coming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)
        if error := sending.get("fails"):
            raise error

    api = sending.get("api", Api.CHAT)
    entrance = Entrance(gateway, api)  # type: ignore[arg-type]
    await entrance({"type": "http", "headers": [(b"a", b"b")]}, receive, send)
    return sent


def left() -> float:
    name = b'vsr_requests_total{route="/v1/chat/completions",status="499"} '
    lines = [line for line in metrics.render().splitlines() if line.startswith(name)]
    return float(lines[0].removeprefix(name)) if lines else 0.0


async def test_a_body_in_pieces_is_one_body() -> None:
    """API-6"""
    gateway = PlayedGateway(WireAnswer(200, b"{}"))
    sent = await exchange(gateway, part(b'{"a"', more=True), part(b"", more=True), part(b":1}"))
    assert gateway.body == b'{"a":1}'
    assert sent[0]["status"] == 200
    assert (b"content-length", b"2") in sent[0]["headers"]
    assert orjson.loads(sent[1]["body"]) == {}


@pytest.mark.parametrize("messages", [[part(b"{", more=True), LEFT], [part(b"{}"), LEFT], [LEFT]])
async def test_a_client_that_leaves_before_its_answer_is_sent_none(messages: Any) -> None:
    """BUD-4; it counts as 499"""
    before = left()
    assert await exchange(PlayedGateway(None), *messages) == []
    assert left() == before + 1


@pytest.mark.parametrize("api", Api)
async def test_a_client_that_leaves_is_noticed_at_every_entrance(api: Api) -> None:
    """BUD-4: while the answer is being made, and the server's own task goes on"""
    assert await exchange(PlayedGateway(None), part(b"{}"), LEFT, api=api) == []
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_server_that_cancels_a_request_sees_it_cancelled() -> None:
    """BUD-4: Serve does so itself"""
    task = asyncio.create_task(exchange(PlayedGateway(None), part(b"{}")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_stream_is_closed_when_its_client_cannot_be_written_to() -> None:
    """API-3: even one of which nothing has been read yet"""
    stream = PlayedStream()
    answer = WireStream(200, stream, {}, stream.aclose)
    with pytest.raises(OSError, match="gone"):
        await exchange(PlayedGateway(answer), part(b"{}"), fails=OSError("gone"))
    assert stream.closed
