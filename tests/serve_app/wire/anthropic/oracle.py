"""The ``anthropic`` SDK as the judge of what goes over the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anthropic
import httpx2  # the SDK's own client, which it installs
import orjson
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from pydantic import BaseModel, TypeAdapter

from serve_app.wire.anthropic.emitting import EventWriter
from serve_app.wire.anthropic.events import AnswerStream
from serve_app.wire.frames import Frames
from serve_app.wire.neutral.events import Event

_WHOLE = TypeAdapter(MessageCreateParamsNonStreaming)
_STREAM = TypeAdapter(MessageCreateParamsStreaming)
_EVENT = TypeAdapter(RawMessageStreamEvent)
_SAMPLING: Mapping[str, Any] = {"temperature": int | float, "top_p": int | float, "top_k": int}


def check_body(body: Mapping[str, Any]) -> None:
    """Fails where a member has a wrong type, or is one that the SDK does not know.

    Sampling is checked apart: the API of 2026-10-21, which the SDK speaks, has none any more.
    """
    rest = {name: value for name, value in body.items() if name not in _SAMPLING}
    for name in body.keys() - rest.keys():
        assert isinstance(body[name], _SAMPLING[name])
    adapter = _STREAM if body.get("stream") else _WHOLE
    assert _plain(adapter.validate_python(rest)) == rest


def check_message(message: Mapping[str, Any]) -> Message:
    checked = Message.model_validate(message)
    assert not checked.model_extra
    return checked


def check_stream(data: bytes) -> list[dict[str, Any]]:
    """The events' data. Each has the name of its type and validates."""
    events = []
    for frame in Frames().feed(data):
        event = orjson.loads(frame.data)
        assert frame.event == event["type"]
        if event["type"] not in ("ping", "error"):
            _EVENT.validate_python(event)
        events.append(event)
    return events


def client(data: bytes, *, status: int = 200, stream: bool = True) -> anthropic.Anthropic:
    """A client that gets ``data`` for whatever it asks."""
    kind = "text/event-stream" if stream else "application/json"
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(status, headers={"content-type": kind}, content=data)
    )
    http = httpx2.Client(transport=transport)
    return anthropic.Anthropic(api_key="k", http_client=http, max_retries=0)


ASKED: Any = {
    "model": "auto",
    "max_tokens": 16,
    "messages": [{"role": "user", "content": "hi"}],
}


def collect(data: bytes) -> dict[str, Any]:
    """The final message as ``messages.stream`` makes it of a stream."""
    with client(data).messages.stream(**ASKED) as stream:
        return without_none(stream.get_final_message().model_dump())


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_none(member) for name, member in value.items() if member is not None}
    return [without_none(member) for member in value] if isinstance(value, list) else value


def written(events: Iterable[Event], **options: Any) -> bytes:
    writer = EventWriter(id="msg_0", model="theirs", **options)
    return b"".join([*(writer.feed(event) for event in events), writer.end()])


def read(data: bytes) -> list[Event]:
    stream = AnswerStream()
    events = [event for frame in Frames().feed(data) for event in stream.feed(frame)]
    return [*events, *stream.end()]


def _plain(value: Any) -> Any:
    """The SDK's lists are validated as they are read."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [_plain(member) for member in value]
