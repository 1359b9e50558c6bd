"""OpenAI Chat as a format among others (API-1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from serve_app.errors import RouterError, WireFormat
from serve_app.wire.chat.answer import error_body, event, provider_error
from serve_app.wire.chat.conversation import read_conversation
from serve_app.wire.chat.emitting import ChunkWriter, whole
from serve_app.wire.chat.events import AnswerStream, read_answer
from serve_app.wire.chat.failure import write_failure
from serve_app.wire.chat.request import asks_for_usage, read_message, upstream_body
from serve_app.wire.chat.writing import write_request
from serve_app.wire.envelope import read_envelope
from serve_app.wire.format import Format, Head
from serve_app.wire.neutral.events import Event


def _id(head: Head) -> str:
    return f"chatcmpl-{head.number}"


def _whole(events: Iterable[Event], head: Head) -> dict[str, Any]:
    return whole(events, model=head.model, id=_id(head), created=head.created)


def _writer(head: Head) -> ChunkWriter:
    include_usage = asks_for_usage(head.request.body)
    return ChunkWriter(
        model=head.model, id=_id(head), created=head.created, include_usage=include_usage
    )


def _failure_event(error: RouterError, last: bytes) -> bytes:
    return event(error_body(error))


CHAT: Final = Format(
    name=WireFormat.CHAT,
    read_request=read_envelope,
    read_message=read_message,
    read_conversation=read_conversation,
    whole=_whole,
    writer=_writer,
    failure_body=write_failure,
    failure_event=_failure_event,
    provider_error=provider_error,
    upstream_body=upstream_body,
    write_request=write_request,
    read_answer=read_answer,
    answer_reader=AnswerStream,
)
