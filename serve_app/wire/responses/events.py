"""The answers of a provider that speaks Responses, as neutral events (API-1, API-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from models.questions.types import JsonValue
from serve_app.wire.frames import Frame
from serve_app.wire.neutral.events import Began, Ended, Event, Failed, Stop, Used
from serve_app.wire.responses.progress import Progress

_BROKE_OFF: Final = Failed("the provider's answer broke off")
_DONE: Final = "[DONE]"

_REASONS: Final[Mapping[str, Stop]] = {"content_filter": Stop.FILTER}
"""Every other reason of an incomplete answer is a limit."""

_MOST: Final = 2**53 - 1
"""The greatest integer that every reader of JSON keeps."""

_FINAL: Final = frozenset({"completed", "incomplete", "failed", "cancelled"})


def read_answer(body: JsonValue) -> list[Event]:
    """A whole ``Response``, of whatever status; what is none is ``Failed``."""
    if not isinstance(body, dict):
        return [Failed("the provider's answer is no response")]
    stream = AnswerStream()
    if "output" not in body and isinstance(body.get("error"), dict):
        return [_failure(body["error"])]
    return stream.finish(body, _status(body))


class AnswerStream:
    """Takes the events of a stream, one after another. None makes it fail: what a provider sends
    that is not of the format is passed over."""

    def __init__(self) -> None:
        self._began = False
        self._over = False
        self._progress = Progress()

    def feed(self, frame: Frame) -> list[Event]:
        if self._over or frame.data == _DONE:
            return []
        event = _parsed(frame)
        kind = event.get("type") or frame.event
        if not isinstance(kind, str):
            kind = "error" if isinstance(event.get("error"), dict) else ""
        stage = kind.removeprefix("response.")
        if kind == "error":
            self._over = True
            return [_failure_of(event)]
        if stage in _FINAL:
            return self.finish(_object(event.get("response")), stage)
        if stage in ("created", "queued", "in_progress"):
            return self._begin(_object(event.get("response")))
        told = self._progress.read(stage, event)
        return [*self._begin({}), *told] if told else []

    def end(self) -> list[Event]:
        """The provider has ended the stream; that it was at its own end is known by then."""
        if self._over:
            return []
        self._over = True
        return [_BROKE_OFF]

    def finish(self, response: Mapping[str, Any], status: str) -> list[Event]:
        """The whole response, which tells what its stream has not."""
        self._over = True
        events = [*self._begin(response), *self._progress.rest(response.get("output"))]
        used = _usage(response.get("usage"))
        if status == "failed":
            return [*events, *used, _failure(_object(response.get("error")))]
        if status not in ("completed", "incomplete"):
            return [*events, *used, Failed(f"the provider's answer is {status}", status)]
        stop = Stop.TOOLS if self._progress.called else Stop.END
        if status == "incomplete":
            stop = _incomplete(response)
        return [*events, Ended(stop), *used]

    def _begin(self, response: Mapping[str, Any]) -> list[Event]:
        if self._began:
            return []
        self._began = True
        id, model = _string(response.get("id")), _string(response.get("model"))
        return [Began(id, model, _count(response.get("created_at")))]


def _parsed(frame: Frame) -> Mapping[str, Any]:
    try:
        return _object(orjson.loads(frame.data))
    except orjson.JSONDecodeError:
        return {}


def _status(response: Mapping[str, Any]) -> str:
    status = response.get("status")
    if isinstance(status, str) and status in (*_FINAL, "in_progress", "queued"):
        return status
    if response.get("error"):
        return "failed"
    return "incomplete" if response.get("incomplete_details") else "completed"


def _incomplete(response: Mapping[str, Any]) -> Stop:
    reason = _object(response.get("incomplete_details")).get("reason")
    return _REASONS.get(reason, Stop.LENGTH) if isinstance(reason, str) else Stop.LENGTH


def _failure_of(event: Mapping[str, Any]) -> Failed:
    """``error`` of a stream, its members in it or in an object of that name."""
    inner = _object(event.get("error"))
    return _failure(inner or {k: v for k, v in event.items() if k != "type"})


def _failure(error: Mapping[str, Any]) -> Failed:
    """``type`` is the original word where ``code`` is of the format's closed set."""
    message = _string(error.get("message")) or "the provider failed"
    kind = _string(error.get("type")) or _string(error.get("code"))
    return Failed(message, kind or None)


def _usage(given: JsonValue) -> list[Event]:
    if not isinstance(given, dict):
        return []
    read, made = _object(given.get("input_tokens_details")), given.get("output_tokens_details")
    return [
        Used(
            input=_count(given.get("input_tokens")) or 0,
            output=_count(given.get("output_tokens")) or 0,
            cached=_count(read.get("cached_tokens")),
            written=_count(read.get("cache_write_tokens")),
            reasoning=_count(_object(made).get("reasoning_tokens")),
        )
    ]


def _object(value: JsonValue) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _count(value: JsonValue) -> int | None:
    """A number that another format can say too."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return int(value) if 0 <= value <= _MOST else None
