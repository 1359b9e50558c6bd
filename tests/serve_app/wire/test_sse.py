"""Events leave whole, as soon as they are complete (API-3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.wire import sse

EVENTS = st.lists(
    st.sampled_from([b"data: a\n\n", b": ping\n\n", b"data: b\r\n\r\n", b"data: c\r\r"])
)


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def relayed(*chunks: bytes) -> list[bytes]:
    return [chunk async for chunk in sse.whole_events(pieces(*chunks))]


def cut(data: bytes, at: list[int]) -> list[bytes]:
    marks = [0, *sorted(i % (len(data) + 1) for i in at), len(data)]
    return [data[a:b] for a, b in pairwise(marks)]


@given(EVENTS, st.lists(st.integers(0, 999)), st.sampled_from([b"", b"data: torn", b"\n"]))
async def test_the_bytes_are_the_providers_and_every_cut_is_between_events(
    events: list[bytes], at: list[int], rest: bytes
) -> None:
    """API-3"""
    data = b"".join(events) + rest
    out = await relayed(*cut(data, at))
    assert b"".join(out) == data
    assert all(chunk.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")) for chunk in out[:-1])


async def test_a_complete_event_is_not_held_for_the_next() -> None:
    """API-3: the first token at once"""
    assert await relayed(b"data: a\n\ndata: ", b"b\n", b"\nda") == [
        b"data: a\n\n",
        b"data: b\n\n",
        b"da",
    ]


async def test_a_stream_that_breaks_within_an_event_leaves_no_torn_one() -> None:
    """API-3"""

    async def breaking() -> AsyncIterator[bytes]:
        yield b"data: a\n\ndata: {"
        raise ConnectionError

    events = sse.whole_events(breaking())
    assert await anext(events) == b"data: a\n\n"
    with pytest.raises(ConnectionError):
        await anext(events)


async def test_what_is_too_long_to_be_an_event_passes() -> None:
    chunk = b"x" * (sse.MAX_EVENT_BYTES // 2 + 1)
    assert await relayed(chunk, chunk, b"y") == [chunk + chunk, b"y"]
