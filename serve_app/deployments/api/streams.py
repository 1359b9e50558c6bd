"""A provider's stream as the client gets it (API-3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

from serve_app.errors import Code, RouterError
from serve_app.providers.answers import StreamAnswer, StreamBrokenError
from serve_app.wire.chat.answer import error_body, event
from serve_app.wire.sse import whole_events


async def chat_events(answer: StreamAnswer, deadline: float | None) -> AsyncIterator[bytes]:
    """The provider's events; one that breaks off, or outlasts ``deadline`` on the event loop's
    clock, ends in Chat's error event.
    """
    chunks = answer.chunks if deadline is None else _until(answer.chunks, deadline)
    if "content-encoding" in answer.headers:
        # Compressed in spite of the request: its events cannot be seen, so it just ends.
        async for chunk in chunks:
            yield chunk
        return
    try:
        async for chunk in whole_events(chunks):
            yield chunk
    except StreamBrokenError:
        error = RouterError(Code.PROVIDER_FAILED, "the provider broke off its answer")
        yield event(error_body(error))
    except TimeoutError:
        error = RouterError(Code.DEADLINE_EXCEEDED, "the request's own deadline passed")
        yield event(error_body(error))


async def _until(chunks: AsyncIterable[bytes], deadline: float) -> AsyncIterator[bytes]:
    iterator = aiter(chunks)
    while True:
        # Around each wait alone: a timeout must not strike while the client is being written to.
        async with asyncio.timeout_at(deadline):
            try:
                chunk = await anext(iterator)
            except StopAsyncIteration:
                return
        yield chunk
