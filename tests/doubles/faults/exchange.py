"""One call at the fault server, and what a fault may do with its connection."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.doubles.faults.right_answers import Json, entries_of, right_response

REASONS: Final = {200: "OK", 204: "No Content", 307: "Temporary Redirect", 422: "Unprocessable"}


@dataclass
class Received:
    """A call that came. ``sent``: bytes of the answer that the client's side took."""

    headers: Mapping[str, str]
    body: Json
    sent: int = 0


class Exchange:
    """``close`` is true once the connection is not to be used again. ``number``: of the call on
    its connection, from 1.
    """

    def __init__(
        self,
        received: Received,
        number: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.received = received
        self.number = number
        self.body = received.body
        self.close = False
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(0)

    @property
    def entries(self) -> dict[str, Json]:
        return entries_of(self.body)

    @property
    def batch(self) -> bool:
        return "states" in self.body

    def right(self) -> Json:
        """A response of its own, to be spoilt at will."""
        return right_response(self.body)

    async def write(self, data: bytes) -> None:
        """Returns when the client's side took the bytes; raises once it is gone."""
        self._writer.write(data)
        await self._writer.drain()
        self.received.sent += len(data)

    async def answer(
        self,
        body: Any = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """A whole answer; without ``body`` the right one. ``headers`` replace the usual ones."""
        content = encoded(self.right() if body is None else body)
        await self.write(head(status, {"content-length": str(len(content))} | dict(headers or {})))
        await self.write(content)

    async def gone(self) -> None:
        """Waits until the client closes its side."""
        self.close = True
        while await self._reader.read(65536):
            pass

    def finish(self) -> None:
        """FIN: everything written arrives, and nothing more."""
        self.close = True
        self._writer.close()

    def reset(self) -> None:
        """RST."""
        self.close = True
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def head(status: int, headers: Mapping[str, str]) -> bytes:
    usual = {"content-type": "application/json"}
    lines = [f"{name}: {value}" for name, value in (usual | dict(headers)).items()]
    first = f"HTTP/1.1 {status} {REASONS.get(status, 'Whatever')}"
    return "\r\n".join([first, *lines, "", ""]).encode()


def encoded(body: Any) -> bytes:
    """``body`` as it is where it is bytes already. NaN and Infinity become literals."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


Act = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """``does``: one line for people. ``act`` answers a call, or does not."""

    name: str
    does: str
    act: Act


@dataclass
class Table:
    """Faults by name. Used as a decorator of what they do."""

    faults: dict[str, Fault] = field(default_factory=dict)

    def __call__(self, name: str, does: str) -> Callable[[Act], Act]:
        def add(act: Act) -> Act:
            assert name not in self.faults, name
            self.faults[name] = Fault(name, does, act)
            return act

        return add
