"""What every chat body says of itself: whose answer is asked for, and whether as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.questions.types import JsonValue
from serve_app.wire.places import invalid


@dataclass(frozen=True, slots=True)
class Envelope:
    """``body`` is the client's own."""

    model: str
    stream: bool
    body: dict[str, Any]


def read_envelope(body: JsonValue) -> Envelope:
    """Of a body with ``messages``. ``RouterError`` names the field that is wrong."""
    if not isinstance(body, dict):
        raise invalid("the body must be an object")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise invalid("model must be a name", ("model",))
    _check_messages(body)
    stream = body.get("stream")
    if stream is not None and not isinstance(stream, bool):
        raise invalid("stream must be true or false", ("stream",))
    return Envelope(model, stream is True, body)


def _check_messages(body: Mapping[str, Any]) -> None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages must be a list with at least one message", ("messages",))
