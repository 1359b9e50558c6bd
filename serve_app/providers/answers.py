"""What a chat provider is asked, and what it gave back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol


class StreamBrokenError(Exception):
    """The provider's stream ended early: its connection broke, or it fell silent."""


class Chunks(Protocol):
    """Bytes that are coming. Iterating raises ``StreamBrokenError``; ``aclose`` ends the call,
    read to its end or not.
    """

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Call:
    """A body for one model. ``relayed``: its answer goes to the client byte for byte, in whatever
    encoding the provider chose; any other is decoded."""

    content: bytes
    relayed: bool = True


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """A complete answer, errors of the provider included. ``model`` is the logical name."""

    model: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """An answer that has begun: the provider's bytes, as they come."""

    model: str
    status: int
    headers: Mapping[str, str]
    chunks: Chunks


@dataclass(frozen=True, slots=True)
class Failure:
    """One attempt that failed, for the next backend to make good.

    ``outcome``: a label for metrics. ``answer``: what the provider said, if it spoke at all.
    """

    outcome: str
    message: str
    answer: WholeAnswer | None = None
