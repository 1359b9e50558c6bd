"""OpenAI Responses as a format among others (API-1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.errors import WireFormat
from serve_app.wire.chat.answer import provider_error
from serve_app.wire.chat.failure import write_failure
from serve_app.wire.format import Format, Head
from serve_app.wire.neutral.events import Event
from serve_app.wire.places import invalid
from serve_app.wire.responses.answer import failure_event
from serve_app.wire.responses.conversation import read_conversation
from serve_app.wire.responses.emitting import EventWriter, whole
from serve_app.wire.responses.envelope import ID_PREFIX, Envelope
from serve_app.wire.responses.events import AnswerStream, read_answer
from serve_app.wire.responses.request import (
    ResponsesRequest,
    read_message,
    read_request,
    upstream_body,
)
from serve_app.wire.responses.writing import write_request

_KEPT_ELSEWHERE: Final = ("previous_response_id", "conversation")


def _read_stateless(body: JsonValue) -> ResponsesRequest:
    """A request that stands for more than it says is refused: no rule could read the rest."""
    request = read_request(body)
    for name in _KEPT_ELSEWHERE:
        if request.body.get(name) is not None:
            what = f"{name} is not supported: this router keeps no responses, so send all of input"
            raise invalid(what, (name,))
    return request


def _envelope(head: Head) -> Envelope:
    request = {**head.request.body, "model": head.model}
    return Envelope(ID_PREFIX + head.number, head.created, request)


def _whole(events: Iterable[Event], head: Head) -> dict[str, Any]:
    return whole(events, _envelope(head))


def _writer(head: Head) -> EventWriter:
    return EventWriter(_envelope(head))


RESPONSES: Final = Format(
    name=WireFormat.RESPONSES,
    read_request=_read_stateless,
    read_message=read_message,
    read_conversation=read_conversation,
    whole=_whole,
    writer=_writer,
    failure_body=write_failure,
    failure_event=failure_event,
    provider_error=provider_error,
    upstream_body=upstream_body,
    write_request=write_request,
    read_answer=read_answer,
    answer_reader=AnswerStream,
)
