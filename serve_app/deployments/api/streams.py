"""A provider's stream as the client gets it (API-3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

from serve_app.errors import Code, RouterError
from serve_app.providers.answers import StreamAnswer, StreamBrokenError
from serve_app.wire.format import Format
from serve_app.wire.frames import Frames, FrameTooLongError
from serve_app.wire.neutral.events import Event
from serve_app.wire.sse import whole_events
from serve_app.wire.translation import StreamTranslator


async def relayed(
    answer: StreamAnswer, client: Format, deadline: float | None
) -> AsyncIterator[bytes]:
    """The provider's events; one that breaks off, or outlasts ``deadline`` on the event loop's
    clock, ends in the format's error event.
    """
    chunks = _bounded(answer, deadline)
    if "content-encoding" in answer.headers:
        # Compressed in spite of the request: its events cannot be seen, so it just ends.
        async for chunk in chunks:
            yield chunk
        return
    last = b""
    try:
        async for chunk in whole_events(chunks):
            yield chunk
            last = chunk
    except (StreamBrokenError, TimeoutError) as error:
        yield client.failure_event(_failure(error), last)


async def translated(
    answer: StreamAnswer, translator: StreamTranslator, deadline: float | None
) -> AsyncIterator[bytes]:
    """The same in the client's format where the provider speaks another."""
    try:
        async for chunk in _bounded(answer, deadline):
            yield translator.feed(chunk)
            if translator.failed:
                break
        last = translator.end()
    except (StreamBrokenError, TimeoutError, FrameTooLongError) as error:
        last = translator.fail(_failure(error))
    if last:
        yield last


async def gathered(answer: StreamAnswer, provider: Format, deadline: float | None) -> list[Event]:
    """Every event of a stream, for a client that asked for none: some providers stream anyway.

    ``RouterError`` where it breaks off, or outlasts ``deadline``.
    """
    reader, frames, events = provider.answer_reader(), Frames(), list[Event]()
    try:
        async for chunk in _bounded(answer, deadline):
            for frame in frames.feed(chunk):
                events += reader.feed(frame)
    except (StreamBrokenError, TimeoutError, FrameTooLongError) as error:
        raise _failure(error) from None
    finally:
        await answer.chunks.aclose()
    return [*events, *reader.end()]


def _failure(error: Exception) -> RouterError:
    if isinstance(error, TimeoutError):
        return RouterError(Code.DEADLINE_EXCEEDED, "the request's own deadline passed")
    return RouterError(Code.PROVIDER_FAILED, "the provider broke off its answer")


def _bounded(answer: StreamAnswer, deadline: float | None) -> AsyncIterable[bytes]:
    """Its bytes; ``TimeoutError`` once ``deadline`` has passed."""
    return answer.chunks if deadline is None else _until(answer.chunks, deadline)


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
