"""TCP and TLS under an HTTP client, with nothing read that it cannot see.

An answer that came before its request is no answer to it. httpcore asks a kept connection whether
something is there already, and asks its socket alone: what this process has read beyond the last
answer waits in buffers, and would become the next answer. Here the connection owns its buffer.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Iterable
from ssl import SSLContext
from typing import Any, Final, cast

import httpcore
import httpx

HIGH_BYTES: Final = 1024 * 1024
"""Read ahead of the client; above it the peer is held up."""


class Transport(httpx.AsyncHTTPTransport):
    """httpx's own, over ``Backend``. ``max_keepalive``: connections kept, each for
    ``keepalive_s``."""

    def __init__(self, tls: SSLContext, *, max_keepalive: int, keepalive_s: float) -> None:
        super().__init__(verify=tls, trust_env=False)
        # httpx has no way in for a network backend; its client is otherwise as it comes.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=None,
            max_keepalive_connections=max_keepalive,
            keepalive_expiry=keepalive_s,
            network_backend=Backend(),
        )


class Backend(httpcore.AsyncNetworkBackend):
    """Connections of the running event loop."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                _, stream = await loop.create_connection(Stream, host, port)
        except TimeoutError:
            raise httpcore.ConnectTimeout from None
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from None
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Stream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection. It refuses to send a request while something waits to be read."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._ended = False
        self._lost: Exception | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._came = asyncio.Event()
        self._answered = True

    # What the event loop says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one by its methods

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._came.set()
        if len(self._received) > HIGH_BYTES:
            self._open.pause_reading()

    def eof_received(self) -> None:
        self._ended = True
        self._came.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._ended = True
        self._lost = error
        self._came.set()
        self._may_write.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # What httpcore asks for.

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            async with asyncio.timeout(timeout):
                await self._came.wait()
        except TimeoutError:
            raise httpcore.ReadTimeout from None
        self._answered = True
        data = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        if not data and self._lost is not None:
            raise httpcore.ReadError(str(self._lost)) from None
        if not self._received and not self._ended:
            self._came.clear()
            self._open.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        if self._answered and self._readable():
            # A WriteError httpcore would pass over, and read on.
            raise httpcore.RemoteProtocolError("something came before the request")
        self._answered = False
        if self._lost is not None or self._open.is_closing():
            raise httpcore.WriteError("the connection is closed")
        self._open.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                await self._may_write.wait()
        except TimeoutError:
            raise httpcore.WriteTimeout from None
        if self._lost is not None:
            raise httpcore.WriteError(str(self._lost)) from None

    async def aclose(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                secure = await loop.start_tls(
                    self._open, self, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError:
            await self.aclose()
            raise httpcore.ConnectTimeout from None
        except (OSError, asyncio.IncompleteReadError) as error:  # ssl.SSLError is an OSError
            await self.aclose()
            raise httpcore.ConnectError(str(error)) from None
        if secure is None:
            raise httpcore.ConnectError("the connection was closed in its handshake")
        self._transport = secure
        return self

    def get_extra_info(self, info: str) -> Any:
        match info:
            case "is_readable":
                return self._readable()
            case "client_addr":
                return self._open.get_extra_info("sockname")
            case "server_addr":
                return self._open.get_extra_info("peername")
        return self._open.get_extra_info(info)

    def _readable(self) -> bool:
        """Whether something is here, or at the socket, or the peer has ended. At a socket of TLS
        there may be a session's ticket, which is none of the client's.
        """
        if self._received or self._ended or self._open.is_closing():
            return True
        if self._open.get_extra_info("ssl_object") is not None:
            return False
        socket = self._open.get_extra_info("socket")
        poll = select.poll()
        poll.register(socket.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    @property
    def _open(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport
