"""TCP and TLS under the clients of providers and remote models."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from serve_app.providers.connection import Connection
from serve_app.providers.network import HIGH_BYTES, Transport

CERTIFICATE = Path(__file__).parents[2] / "doubles" / "localhost.pem"

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def response(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body


async def read(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return await reader.readexactly(length)


@asynccontextmanager
async def served(answer: Answer, *, secure: bool) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A client, and the URL of a server of which ``answer`` serves each connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    context = None
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    trusted = ssl.create_default_context(cafile=str(CERTIFICATE))
    transport = Transport(trusted, max_keepalive=10, keepalive_s=15)
    async with httpx.AsyncClient(transport=transport, timeout=20) as client:
        yield client, f"http{'s' if secure else ''}://127.0.0.1:{port}/"
    server.close()


@pytest.mark.parametrize("secure", [False, True])
async def test_a_connection_is_kept_and_bodies_of_any_size_cross_it(secure: bool) -> None:
    """API-2"""
    connections = 0

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            writer.write(response(await read(reader)))
            await writer.drain()

    async with served(echo, secure=secure) as (client, url):
        for size in (0, 1, 65_536, 3 * HIGH_BYTES, 10):
            body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
            assert (await client.post(url, content=body)).content == body
    assert connections == 1


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("size", [10, 62_000, 65_535, 65_536, 65_537, 131_072, 300_000])
async def test_what_came_before_a_request_is_no_answer_to_it(secure: bool, size: int) -> None:
    """UNK-1, law 1: it waits in the parser, in this process, in TLS or in the socket"""
    said = []

    async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read(reader)
        writer.write(response(b"own".ljust(size)) + response(b"surplus"))
        await writer.drain()
        await reader.read()

    async with served(twice, secure=secure) as (client, url):
        for _ in range(4):
            trace = {"trace": Connection().trace}
            try:
                answer = await client.post(url, content=b"question", extensions=trace)
                said.append(answer.content.strip())
            except httpx.TransportError:
                said.append(b"refused")
    assert said[0] == b"own"
    assert set(said) <= {b"own", b"refused"}


async def test_a_peer_that_floods_is_held_up() -> None:
    """API-6: what is read ahead is bounded"""
    sent = 0
    held = asyncio.Event()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            sent += 65_536
            try:
                await asyncio.wait_for(writer.drain(), 0.5)
            except TimeoutError:
                held.set()
                await reader.read()
                return

    async with (
        served(flood, secure=False) as (client, url),
        client.stream("POST", url, content=b"question") as answer,
    ):
        assert answer.status_code == 200
        await asyncio.wait_for(held.wait(), 20)
    assert sent < 64 * HIGH_BYTES


@pytest.mark.parametrize("secure", [False, True])
async def test_a_peer_that_leaves_is_a_transport_error(secure: bool) -> None:
    """API-5"""

    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        await writer.drain()

    async with served(leave, secure=secure) as (client, url):
        with pytest.raises(httpx.TransportError):
            await client.post(url, content=b"question")


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    """CFG-2: the key goes to no stranger"""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise AssertionError("nothing is sent")

    async with served(echo, secure=True) as (_, url):
        transport = Transport(ssl.create_default_context(), max_keepalive=1, keepalive_s=1)
        async with httpx.AsyncClient(transport=transport) as stranger:
            with pytest.raises(httpx.ConnectError):
                await stranger.post(url, content=b"question")


async def test_a_server_that_speaks_no_tls_and_one_that_is_not_there_are_connect_errors() -> None:
    """API-5"""

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"no TLS here\r\n\r\n")
        await writer.drain()

    async with served(deaf, secure=False) as (client, url):
        with pytest.raises(httpx.ConnectError):
            await client.get(url.replace("http:", "https:"))
        with pytest.raises(httpx.ConnectError):
            await client.get("http://127.0.0.1:9/")
        with pytest.raises(httpx.ConnectError):
            await client.get("http://name.invalid/")
