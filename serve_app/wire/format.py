"""What the router needs of a format that clients and chat providers speak (API-1).

A request's way names no format: it holds the client's and the provider's, and where they are the
same the bytes are relayed. Where not, the request goes through the neutral conversation and the
answer through the neutral events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from models.questions.types import JsonValue
from serve_app.errors import RouterError, WireFormat
from serve_app.message import Message
from serve_app.wire.frames import Frame
from serve_app.wire.neutral.conversation import Conversation, Written
from serve_app.wire.neutral.events import Event, Failed


class ClientRequest(Protocol):
    """The envelope of a body that was accepted. ``body`` is the client's own."""

    @property
    def model(self) -> str: ...
    @property
    def stream(self) -> bool: ...
    @property
    def body(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Head:
    """What an answer that the router writes says of itself. ``number``: the request's own, which
    each format makes its id of. ``created``: seconds since 1970. ``model``: whose it is, where the
    provider does not say. ``prompt_tokens``: an estimate, where a stream begins with its usage.
    """

    number: str
    created: int
    model: str
    request: ClientRequest
    prompt_tokens: int = 0


class AnswerReader(Protocol):
    """A provider's stream as events. It raises nothing: what is not in the format is ``Failed``."""

    def feed(self, frame: Frame) -> list[Event]: ...
    def end(self) -> list[Event]:
        """Called once where the stream is over; one without an end is ``Failed``."""


class AnswerWriter(Protocol):
    """Events as a client's stream. After a ``Failed`` it writes nothing more."""

    def feed(self, event: Event) -> bytes: ...
    def end(self) -> bytes:
        """Called once, after the last event."""


@dataclass(frozen=True, slots=True)
class Format:
    """Of a client: ``read_request`` (the envelope), ``read_message`` (what the policy reads),
    ``read_conversation`` (everything), then ``whole`` or ``writer`` for an answer of another
    format, ``failure_body`` and ``failure_event`` where there is none (the latter in the midst of a
    relayed stream, after its bytes ``last``), ``provider_error`` for a provider's own body.

    Of a provider: ``upstream_body`` for a client of the format, ``write_request`` for others;
    ``read_answer`` and ``answer_reader`` for what it says.

    What reads a request raises ``RouterError`` (``invalid_request``), ``read_answer`` one
    (``provider_failed``) for what is no answer.
    """

    name: WireFormat
    read_request: Callable[[JsonValue], ClientRequest]
    read_message: Callable[[Mapping[str, Any], Mapping[str, str]], Message]
    read_conversation: Callable[[JsonValue], Conversation]
    whole: Callable[[Iterable[Event], Head], dict[str, Any]]
    writer: Callable[[Head], AnswerWriter]
    failure_body: Callable[[Failed], dict[str, Any]]
    failure_event: Callable[[RouterError, bytes], bytes]
    provider_error: Callable[[int, bytes], bytes]
    upstream_body: Callable[[Mapping[str, Any], str], bytes]
    write_request: Callable[[Conversation, str], Written]
    read_answer: Callable[[JsonValue], list[Event]]
    answer_reader: Callable[[], AnswerReader]
