"""What goes back on the wire, before any server has it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

JSON = "application/json"
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True)
class WireAnswer:
    """A whole response. ``headers`` have lower-case names; ``content-type`` is among them."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": JSON})


@dataclass(frozen=True, slots=True)
class WireStream:
    """A response in pieces, sent as they come. ``aclose`` is called at the end, whichever it is:
    read out, broken, or never begun because the client left.
    """

    status: int
    chunks: AsyncIterator[bytes]
    headers: Mapping[str, str]
    aclose: Callable[[], Awaitable[None]]
