"""Server-sent events, relayed whole (API-3)."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

MAX_EVENT_BYTES: Final = 1024 * 1024
"""Held back of one event; what is longer passes as it comes."""

_ENDS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


async def whole_events(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The same bytes, cut at the ends of events: each event leaves as soon as it is complete.

    A stream that breaks within an event so leaves no torn one before whatever follows it; what
    a stream that ends by itself leaves unfinished passes.
    """
    held = b""
    async for chunk in chunks:
        seen, held = len(held), held + chunk if held else chunk
        end = len(held) if held.endswith(_ENDS) else _last_end(held, max(0, seen - 3))
        if len(held) - end > MAX_EVENT_BYTES:
            end = len(held)
        if end:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def _last_end(data: bytes, start: int) -> int:
    """Where the last complete event ends, 0 if none does; none ends before ``start``."""
    ends = ((data.rfind(end, start), len(end)) for end in _ENDS)
    return max((at + length for at, length in ends if at >= 0), default=0)
