"""A remote System One API that misbehaves, each way at a path of its own.

On raw sockets: frameworks do not break connections, headers and encodings the way networks and
buggy servers do. It counts the calls it gets at each fault and keeps their bodies.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from itertools import count
from types import TracebackType
from typing import Final, Self

from tests.doubles.faults.exchange import Exchange, Received
from tests.doubles.faults.table import FAULTS, UNREACHABLE

HOST: Final = "127.0.0.1"
PATH: Final = "/fault/{}/v1/systemone"


class FaultServer:
    """Runs in a thread of its own between ``with`` and its end; every fault at once."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._received: dict[str, list[Received]] = {name: [] for name in FAULTS}
        self._connections = dict.fromkeys(UNREACHABLE, 0)
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._listener = socket.create_server((HOST, 0))
        self._closer = socket.create_server((HOST, 0))
        with socket.create_server((HOST, 0)) as unused:
            self._refused = unused.getsockname()[1]
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def endpoint(self, fault: str) -> str:
        """The URL to call for ``fault``."""
        if fault in UNREACHABLE:
            ports = {"refused": self._refused, "closed-at-once": _port(self._closer)}
            scheme = "https" if fault == "no-tls" else "http"
            path = PATH.format("none")
            return f"{scheme}://{HOST}:{ports.get(fault, _port(self._listener))}{path}"
        return f"http://{HOST}:{_port(self._listener)}{PATH.format(FAULTS[fault].name)}"

    def calls(self, fault: str) -> int:
        """How often ``fault`` was called, or, of an unreachable one, how often it was tried."""
        if fault in UNREACHABLE:
            return self._connections[fault]
        return len(self._received[fault])

    def received(self, fault: str) -> tuple[Received, ...]:
        return tuple(self._received[fault])

    def forget(self) -> None:
        for received in self._received.values():
            received.clear()
        self._connections = dict.fromkeys(UNREACHABLE, 0)

    async def _start(self) -> None:
        self._servers = [
            await asyncio.start_server(self._accept, sock=self._listener),
            await asyncio.start_server(self._turn_away, sock=self._closer),
        ]

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _turn_away(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections["closed-at-once"] += 1
        writer.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._converse(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Call after call of one connection, until either side ends it."""
        try:
            for number in count(1):
                if not await self._call(number, reader, writer):
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone, as many faults make it
        finally:
            writer.close()

    async def _call(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        first = await reader.readexactly(1)
        if first == b"\x16":  # a TLS handshake
            self._connections["no-tls"] += 1
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            return False
        lines = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ")
        pairs = (line.partition(":") for line in lines[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        fault = FAULTS[path.split("/")[2]]
        received = Received(headers, json.loads(content) if method == "POST" else {})
        self._received[fault.name].append(received)
        call = Exchange(received, number, reader, writer)
        await fault.act(call)
        return not call.close


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port
