"""An answer of one format in another, whole or as it streams (API-1, API-3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final

from serve_app.errors import TABLE, Code, RouterError
from serve_app.wire.answer import WireAnswer
from serve_app.wire.body import json_bytes, parse_json, with_whole_integers
from serve_app.wire.errors import error_answer
from serve_app.wire.format import AnswerReader, AnswerWriter, Format, Head
from serve_app.wire.frames import Frames
from serve_app.wire.neutral.events import Event, Failed

ALIVE: Final = b":\n\n"
"""A comment: the client's connection is used, and nothing is said."""


def read_whole(provider: Format, body: bytes) -> list[Event]:
    """``RouterError`` (``provider_failed``) for what is no answer of the provider's format."""
    try:
        return provider.read_answer(with_whole_integers(parse_json(body), body))
    except (RouterError, ValueError) as error:
        if isinstance(error, RouterError) and error.code is Code.PROVIDER_FAILED:
            raise
        raise RouterError(Code.PROVIDER_FAILED, "the provider's answer is no JSON") from None


def write_whole(client: Format, events: Sequence[Event], head: Head) -> WireAnswer:
    """The answer, or the failure that the provider told of in its place: with its own status, where
    that is known."""
    failed = next((event for event in events if isinstance(event, Failed)), None)
    if failed is None:
        return WireAnswer(200, json_bytes(client.whole(events, head)))
    broken = RouterError(Code.PROVIDER_FAILED, failed.message)
    status = failed.status or error_answer(broken, client.name).status
    return WireAnswer(status, json_bytes(client.failure_body(failed)))


async def write_stream(
    client: Format, events: Iterable[Event], head: Head
) -> AsyncGenerator[bytes, None]:
    """Events that are all there, in the sequence of a stream."""
    writer = client.writer(head)
    for event in events:
        if written := writer.feed(event):
            yield written
    if written := writer.end():
        yield written


def failed_of(error: RouterError, client: Format) -> Failed:
    """A failure of the router's own in the midst of a stream."""
    return Failed(error.message, error.code.value, TABLE[error.code][client.name].status)


class StreamTranslator:
    """A provider's bytes into a client's, each as soon as it can be said.

    What brings nothing for the client, as a comment or a ping, is a comment to it. ``failed``: the
    provider has told of an error, after which nothing is worth waiting for.
    """

    def __init__(self, reader: AnswerReader, writer: AnswerWriter, client: Format) -> None:
        self.failed = False
        self._frames = Frames()
        self._reader = reader
        self._writer = writer
        self._client = client

    def feed(self, chunk: bytes) -> bytes:
        """``FrameTooLongError``: an event does not end."""
        events = [event for frame in self._frames.feed(chunk) for event in self._reader.feed(frame)]
        return self._written(events) or ALIVE

    def end(self) -> bytes:
        """The provider's stream is over."""
        return self._written(self._reader.end()) + self._writer.end()

    def fail(self, error: RouterError) -> bytes:
        """It is over before its end."""
        return self._writer.feed(failed_of(error, self._client)) + self._writer.end()

    def _written(self, events: Sequence[Event]) -> bytes:
        self.failed = self.failed or any(isinstance(event, Failed) for event in events)
        return b"".join(self._writer.feed(event) for event in events)
