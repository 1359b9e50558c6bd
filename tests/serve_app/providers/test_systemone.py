"""The HTTP side of a remote System One API, against real sockets."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from models.questions.types import AnswerError
from serve_app.asking.remote.exchange import RemoteError
from serve_app.config.schema.catalog import RemoteDeployment
from serve_app.providers.systemone import MAX_ANSWER_BYTES, SystemOneApi
from serve_app.providers.tls import tls_context

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"model":1}'


@dataclass
class Wire:
    """``heads``: what each request said before its body. ``outcomes``: what the client told."""

    api: SystemOneApi
    heads: list[str]
    outcomes: list[str]
    connections: int = 0


@asynccontextmanager
async def wire(*answers: bytes | Handle, key: str | None = None) -> AsyncIterator[Wire]:
    """A server whose n-th connection's requests are each answered with the n-th of ``answers``."""
    heads: list[str] = []
    outcomes: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = answers[min(found.connections, len(answers) - 1)]
        found.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                heads.append(head)
                length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
                await reader.readexactly(length)
                if callable(answer):
                    await answer(reader, writer)
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    spec = RemoteDeployment.model_validate(
        {
            "provider": "systemone",
            "endpoint": f"http://127.0.0.1:{port}/v1/systemone",
            "model": "m",
            "api_key_env": "REMOTE_KEY",
        }
    )
    env = {} if key is None else {"REMOTE_KEY": key}
    api = SystemOneApi(spec, env=env, observe=outcomes.append, tls=tls_context())
    found = Wire(api, heads, outcomes)
    try:
        yield found
    finally:
        await api.aclose()
        server.close()


async def test_the_key_and_the_time_left_travel_as_headers() -> None:
    """CFG-3, SRV-9"""
    async with wire(OK, key="s3cret\n") as found:
        answer = await found.api.send({"model": "m"}, 0.75)
    assert (answer.status, answer.body) == (200, {"model": 1})
    (head,) = found.heads
    assert head.startswith("POST /v1/systemone HTTP/1.1")
    assert "authorization: Bearer s3cret\r\n" in head
    assert "x-vsr-timeout-seconds: 0.750\r\n" in head
    assert "accept-encoding: identity\r\n" in head
    assert found.outcomes == ["status_200"]


async def test_without_a_key_no_authorization_is_sent() -> None:
    """CFG-3"""
    async with wire(OK) as found:
        await found.api.send({}, None)
    assert "authorization" not in found.heads[0].lower()
    assert "x-vsr-timeout" not in found.heads[0].lower()


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    """CFG-3"""
    moved = b"HTTP/1.1 307 Moved\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"
    async with wire(moved, key="k") as found:
        answer = await found.api.send({}, 1.0)
    assert (answer.status, answer.body) == (307, None)
    assert len(found.heads) == 1


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b"", None),
        (b")]}'{}", None),
        (b"[" * 200_000, None),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b"[" + b"9" * 5000 + b"]", None),
    ],
)
async def test_a_body_is_read_as_json_or_as_nothing(body: bytes, value: Any) -> None:
    """MRG-7"""
    head = b"HTTP/1.1 422 No\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with wire(head + body) as found:
        answer = await found.api.send({}, 5.0)
    assert (answer.status, answer.body) == (422, value)


async def test_a_nan_spoils_its_own_number_alone() -> None:
    """UNK-1"""
    body = b'{"a": NaN, "b": 0.5}'
    async with wire(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body) as found:
        answer = await found.api.send({}, 5.0)
    assert isinstance(answer.body, dict)
    assert math.isnan(answer.body["a"])  # type: ignore[arg-type]
    assert answer.body["b"] == 0.5


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (b"retry-after: 3\r\n", 3.0),
        (b"retry-after: 3\r\nretry-after-ms: 250\r\n", 0.25),
        (b"retry-after: Wed, 21 Oct 2026 07:28:00 GMT\r\n", None),
        (b"retry-after: -1\r\n", None),
        (b"retry-after: nan\r\n", None),
        (b"retry-after-ms: 1e300\r\nretry-after: 2\r\n", 2.0),
        (b"", None),
    ],
)
async def test_when_to_ask_again_is_read_in_seconds(headers: bytes, seconds: float | None) -> None:
    """OVL-10"""
    answer = b"HTTP/1.1 529 Busy\r\n" + headers + b"content-length: 2\r\n\r\n{}"
    async with wire(answer) as found:
        assert (await found.api.send({}, 5.0)).retry_after_s == seconds


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (MAX_ANSWER_BYTES + 1), "too_large"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
            "encoded",
        ),
        (b"not http at all\r\n\r\n", "connection_error"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_unavailable(answer: bytes, outcome: str) -> None:
    """MRG-6"""
    async with wire(answer) as found:
        with pytest.raises(RemoteError) as failed:
            await found.api.send({}, 5.0)
    assert failed.value.reason is AnswerError.UNAVAILABLE
    assert found.outcomes == [outcome]


@dataclass
class Endless:
    """Sends chunks until the client has had enough; ``sent`` counts their bytes."""

    sent: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        try:
            while True:
                writer.write(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
                await writer.drain()
                self.sent += 0x100000
        except ConnectionError:
            self.ended.set()


async def test_an_endless_answer_is_cut_at_its_limit() -> None:
    """CFG-3"""
    endless = Endless()
    async with wire(endless) as found:
        with pytest.raises(RemoteError):
            await found.api.send({}, 30.0)
        await asyncio.wait_for(endless.ended.wait(), 10)
    assert found.outcomes == ["too_large"]
    assert endless.sent < 3 * MAX_ANSWER_BYTES


async def test_silence_ends_at_the_timeout_with_its_own_reason() -> None:
    """BUD-3"""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with wire(silent) as found:
        with pytest.raises(RemoteError) as failed:
            await found.api.send({}, 0.05)
    assert failed.value.reason is AnswerError.DEADLINE_EXCEEDED
    assert found.outcomes == ["timeout"]


async def test_a_kept_connection_that_was_closed_is_replaced_and_a_fresh_one_is_not() -> None:
    """MRG-6: a server that closes a connection unanswered is asked once"""

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await writer.drain()
        await reader.readuntil(b"\r\n\r\n")  # the next request comes, and is not answered

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with wire(once, OK) as found:
        await found.api.send({}, 5.0)
        assert (await found.api.send({}, 5.0)).status == 200
        assert found.connections == 2
    assert found.outcomes == ["status_200", "status_200"]
    async with wire(deaf) as found:
        with pytest.raises(RemoteError):
            await found.api.send({}, 5.0)
        assert found.connections == 1


async def test_integers_of_any_size_and_halves_of_surrogate_pairs_travel() -> None:
    """S1-1"""
    async with wire(OK) as found:
        assert (await found.api.send({"state": ["\ud800", 2**70]}, 5.0)).status == 200


async def test_bytes_behind_an_answer_are_no_answer_to_the_next_call() -> None:
    """UNK-1: a server, or a proxy before it, that answers once too often must not shift the
    answers of every later call on its connection."""
    other = OK.replace(b'{"model":1}', b'{"model":2}')
    async with wire(OK + other, OK) as found:
        answers = [await found.api.send({}, 5.0) for _ in range(3)]
    assert [answer.body for answer in answers] == [{"model": 1}] * 3
    assert found.outcomes == ["status_200"] * 3


@pytest.mark.parametrize("size", [62_000, 65_535, 65_536, 65_537, 131_072])
async def test_bytes_behind_an_answer_as_large_as_a_read_are_no_answer_either(size: int) -> None:
    """UNK-1: what is read beyond the answer waits in this process, where no socket tells of it"""
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n"
    body = b'{"model":1}'.ljust(size - len(head % size))
    other = OK.replace(b'{"model":1}', b'{"model":2}')
    async with wire(head % len(body) + body + other, OK) as found:
        answers = [await found.api.send({}, 5.0) for _ in range(3)]
    assert [answer.body for answer in answers] == [{"model": 1}] * 3
