"""An answer of a provider of Messages, whole or as it comes (API-1, API-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from models.questions.types import JsonValue
from serve_app.errors import Code, RouterError
from serve_app.wire.anthropic.arguments import to_arguments
from serve_app.wire.anthropic.origin import read_opaque
from serve_app.wire.anthropic.stops import status_of, stop_of
from serve_app.wire.anthropic.usage import read_usage
from serve_app.wire.frames import Frame
from serve_app.wire.neutral.events import (
    Began,
    CallBegan,
    CallDelta,
    Ended,
    Event,
    Failed,
    ReasoningDelta,
    RefusalDelta,
    Stop,
    TextDelta,
)


class _MalformedError(ValueError):
    """What the provider says is not in the format. The message says where."""


def read_answer(body: JsonValue) -> list[Event]:
    """The events of a whole message. ``RouterError``: it is none.

    A block's place is its part. Blocks of server tools, and citations, are no events.
    """
    try:
        message = _object(body, "the answer")
        if message.get("type") == "error":
            return [_failed(message)]
        if not isinstance(message.get("content"), list):
            raise _MalformedError("content is no list")
        events: list[Event] = [_began(message)]
        for part, block in enumerate(message["content"]):
            events += _block(part, _object(block, f"content[{part}]"))
            events += _input(part, block)
        ended = _ended(part=len(message["content"]), delta=message)
        usage = message.get("usage")
        used = [read_usage(usage)] if isinstance(usage, dict) else []
        return [*events, *(ended or [Ended(Stop.END)]), *used]
    except _MalformedError as error:
        what = f"the provider's answer is no message: {error}"
        raise RouterError(Code.PROVIDER_FAILED, what) from None


class AnswerStream:
    """Takes the frames of a stream and gives its events: ``feed`` each, then ``end``.

    A frame that is not in the format ends the stream as an error of the provider's would. Nothing
    comes after an end.
    """

    def __init__(self) -> None:
        self._usage: dict[str, JsonValue] = {}
        self._calls: dict[int, Mapping[str, Any]] = {}
        """Calls whose arguments have not begun, and how each began."""
        self._called: set[int] = set()
        self._skipped: set[int] = set()
        self._parts = 0
        self._ended = False
        self._over = False

    def feed(self, frame: Frame) -> list[Event]:
        if self._over or frame.data == "[DONE]":  # of servers that speak both formats
            return []
        try:
            data = _object(_parsed(frame.data), "an event")
            kind = data.get("type")
            return self._read(kind if isinstance(kind, str) else frame.event, data)
        except _MalformedError as error:
            self._over = True
            return [Failed(f"the provider's stream is not in its format: {error}", "api_error")]

    def end(self) -> list[Event]:
        """The connection is at its end: an error, unless the answer was."""
        if self._over or self._ended:
            return []
        self._over = True
        return [Failed("the provider's stream broke off", "api_error")]

    def _read(self, kind: str | None, data: Mapping[str, Any]) -> list[Event]:
        match kind:
            case "message_start":
                return self._start(_object(data.get("message"), "message"))
            case "content_block_start":
                return self._start_block(_index(data), _object(data.get("content_block"), "block"))
            case "content_block_delta":
                return self._delta(_index(data), _object(data.get("delta"), "delta"))
            case "content_block_stop":
                return self._stop_block(_index(data))
            case "message_delta":
                return self._end(_object(data.get("delta"), "delta"), data.get("usage"))
            case "message_stop":
                events = self._end({"stop_reason": None if self._ended else "end_turn"}, None)
                self._over = True
                return events
            case "error":
                self._over = True
                return [_failed(data)]
        return []  # ping, and events of tomorrow

    def _start(self, message: Mapping[str, Any]) -> list[Event]:
        return [_began(message), *self._use(message.get("usage"))]

    def _start_block(self, index: int, block: Mapping[str, Any]) -> list[Event]:
        self._parts = max(self._parts, index + 1)
        match block.get("type"):
            case "tool_use":
                self._calls[index] = block
                self._called.add(index)
            case "text" | "thinking" | "redacted_thinking":
                pass
            case _:
                self._skipped.add(index)
        return _block(index, block)

    def _delta(self, index: int, delta: Mapping[str, Any]) -> list[Event]:
        if index in self._skipped:
            return []
        match delta.get("type"):
            case "text_delta":
                text = _text(delta, "text")
                return [TextDelta(index, text)] if text else []
            case "thinking_delta":
                text = _text(delta, "thinking")
                return [ReasoningDelta(index, text)] if text else []
            case "signature_delta":
                signature, origin = read_opaque(_text(delta, "signature"))
                signed = ReasoningDelta(index, signature=signature, origin=origin)
                return [signed] if signature else []
            case "input_json_delta":
                return self._argument(index, _text(delta, "partial_json"))
        return []  # citations, and deltas of tomorrow

    def _argument(self, index: int, text: str) -> list[Event]:
        if index not in self._called:
            raise _MalformedError("arguments of no call")
        if not text:
            return []
        self._calls.pop(index, None)
        return [CallDelta(index, text)]

    def _stop_block(self, index: int) -> list[Event]:
        """A call without a delta has the arguments that it began with: mostly ``{}``."""
        block = self._calls.pop(index, None)
        return [] if block is None else _input(index, block)

    def _end(self, delta: Mapping[str, Any], usage: JsonValue) -> list[Event]:
        ended = [] if self._ended else _ended(self._parts, delta)
        events: list[Event] = []
        if ended:
            self._ended = True
            for index in sorted(self._calls):
                events += self._stop_block(index)
        return [*events, *ended, *self._use(usage)]

    def _use(self, usage: JsonValue) -> list[Event]:
        """Counts are those of the whole answer so far; one that is left out stands."""
        if not isinstance(usage, dict):
            return []
        self._usage |= {name: value for name, value in usage.items() if value is not None}
        return [read_usage(self._usage)]


def _parsed(data: str) -> JsonValue:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        raise _MalformedError("an event is no JSON") from None


def _began(message: Mapping[str, Any]) -> Began:
    return Began(_text(message, "id"), _text(message, "model"))


def _block(part: int, block: Mapping[str, Any]) -> list[Event]:
    """What a block says as it begins; whole answers say everything so."""
    match block.get("type"):
        case "text":
            text = _text(block, "text")
            return [TextDelta(part, text)] if text else []
        case "thinking":
            text, (signature, origin) = (
                _text(block, "thinking"),
                read_opaque(_text(block, "signature")),
            )
            said = ReasoningDelta(part, text, signature, origin=origin)
            return [said] if text or signature else []
        case "redacted_thinking":
            hidden, origin = read_opaque(_text(block, "data"))
            return [ReasoningDelta(part, hidden=hidden, origin=origin)] if hidden else []
        case "tool_use":
            return [CallBegan(part, _text(block, "id"), _text(block, "name"))]
    return []


def _input(part: int, block: Mapping[str, Any]) -> list[Event]:
    if block.get("type") != "tool_use":
        return []
    input = block.get("input")
    return [CallDelta(part, to_arguments({} if input is None else input))]


def _ended(part: int, delta: Mapping[str, Any]) -> list[Event]:
    """``part``: of the words that the provider gives for a refusal, which stand in no block."""
    reason = delta.get("stop_reason")
    if not isinstance(reason, str):
        return []
    sequence = delta.get("stop_sequence")
    ended = Ended(stop_of(reason), sequence if isinstance(sequence, str) else None)
    details = delta.get("stop_details")
    why = details.get("explanation") if isinstance(details, dict) else None
    return [RefusalDelta(part, why), ended] if isinstance(why, str) and why else [ended]


def _failed(data: Mapping[str, Any]) -> Failed:
    error = data.get("error")
    error = error if isinstance(error, dict) else {}
    kind, message = error.get("type"), error.get("message")
    kind = kind if isinstance(kind, str) else "api_error"
    return Failed(message if isinstance(message, str) else kind, kind, status_of(kind))


def _object(value: JsonValue, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _MalformedError(f"{name} is no object")
    return value


def _text(members: Mapping[str, Any], name: str) -> str:
    """``""`` where there is none."""
    value = members.get(name)
    if value is not None and not isinstance(value, str):
        raise _MalformedError(f"{name} is no string")
    return value or ""


def _index(data: Mapping[str, Any]) -> int:
    index = data.get("index")
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise _MalformedError("index is no number")
    return index
