"""Anthropic Messages as a format among others (API-1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson

from serve_app.errors import RouterError, WireFormat
from serve_app.wire.anthropic.answer import error_body, failure_body, provider_error
from serve_app.wire.anthropic.conversation import read_conversation
from serve_app.wire.anthropic.emitting import EventWriter, whole
from serve_app.wire.anthropic.events import AnswerStream, read_answer
from serve_app.wire.anthropic.request import read_message, read_request, upstream_body
from serve_app.wire.anthropic.writing import write_request
from serve_app.wire.format import Format, Head
from serve_app.wire.frames import frame
from serve_app.wire.neutral.events import Event


def _id(head: Head) -> str:
    return f"msg_{head.number}"


def _whole(events: Iterable[Event], head: Head) -> dict[str, Any]:
    return whole(events, id=_id(head), model=head.model)


def _writer(head: Head) -> EventWriter:
    return EventWriter(id=_id(head), model=head.model, input_tokens=head.prompt_tokens)


def _failure_event(error: RouterError, last: bytes) -> bytes:
    return frame(orjson.dumps(error_body(error)), "error")


ANTHROPIC: Final = Format(
    name=WireFormat.ANTHROPIC,
    read_request=read_request,
    read_message=read_message,
    read_conversation=read_conversation,
    whole=_whole,
    writer=_writer,
    failure_body=failure_body,
    failure_event=_failure_event,
    provider_error=provider_error,
    upstream_body=upstream_body,
    write_request=write_request,
    read_answer=read_answer,
    answer_reader=AnswerStream,
)
