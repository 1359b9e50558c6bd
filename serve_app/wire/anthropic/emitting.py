"""An answer of another format for a client of Messages, whole or as a stream (API-1, API-3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from serve_app.errors import Code, RouterError, WireFormat
from serve_app.wire.anthropic.arguments import to_input
from serve_app.wire.anthropic.origin import write_opaque
from serve_app.wire.anthropic.sequence import (
    BlockBegan,
    BlockDelta,
    BlockEnded,
    Kind,
    Sequence,
    Step,
)
from serve_app.wire.anthropic.stops import error_type, stop_reason
from serve_app.wire.anthropic.usage import write_usage
from serve_app.wire.frames import frame
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
    Used,
)


def whole(events: Iterable[Event], *, id: str, model: str) -> dict[str, Any]:
    """The message that ``events`` make. ``id``: the router's own. ``model``: where the provider
    says none.

    A call's ``input`` may hold integers of any size, as ``json_bytes`` writes them.
    ``RouterError``: the provider failed in the midst of it.
    """
    ending = _Ending()
    sequence = Sequence()
    content: list[dict[str, Any]] = []
    for event in events:
        match event:
            case Began():
                model = event.model or model
            case Failed():
                raise RouterError(Code.PROVIDER_FAILED, event.message)
            case Ended() | Used():
                ending.note(event)
            case _:
                ending.note(event)
                _collect(content, sequence.feed(event))
    _collect(content, sequence.end())
    for block in content:
        _finish(block)
    message = _message(id, model, write_usage(ending.used or Used(0, 0)))
    return {**message, "content": content, **ending.reasons()}


class EventWriter:
    """Events of an answer as those of a stream: ``feed`` each, then ``end``.

    ``id``: the router's own. ``model``: where the provider says none. ``input_tokens``: the
    estimate that the stream begins with where the provider has not told yet. The true count comes
    at the end.
    """

    def __init__(self, *, id: str, model: str, input_tokens: int = 0) -> None:
        self._id = id
        self._model = model
        self._estimate = Used(input_tokens, 0)
        self._began = False
        self._over = False
        self._sequence = Sequence()
        self._ending = _Ending()
        self._unsigned: set[int] = set()

    def feed(self, event: Event) -> bytes:
        """What can be said now: ``b""`` while others must come first."""
        if self._over:
            return b""
        match event:
            case Began():
                self._model = event.model or self._model
                return self._begin()
            case Failed():
                self._over = True
                return error_event(event)
            case Used():
                self._ending.note(event)
                return b""
            case Ended():
                self._ending.note(event)
                return self._begin() + self._write(self._sequence.end())
            case _:
                self._ending.note(event)
                return self._begin() + self._write(self._sequence.feed(event))

    def end(self) -> bytes:
        """The last events; an error's where the answer has no end."""
        if self._over:
            return b""
        self._over = True
        if not self._ending.told:
            return error_event(Failed("the provider's answer broke off"))
        usage = write_usage(self._ending.used or self._estimate)
        delta = {"type": "message_delta", "delta": self._ending.reasons(), "usage": usage}
        return _event(delta) + _event({"type": "message_stop"})

    def _begin(self) -> bytes:
        if self._began:
            return b""
        self._began = True
        used = self._ending.used or self._estimate
        usage = write_usage(Used(used.input, 0, used.cached, used.written))
        message = _message(self._id, self._model, usage)
        return _event({"type": "message_start", "message": message})

    def _write(self, steps: list[Step]) -> bytes:
        return b"".join(self._step(step) for step in steps)

    def _step(self, step: Step) -> bytes:
        match step:
            case BlockBegan(index, kind):
                if kind is Kind.THINKING:
                    self._unsigned.add(index)
                start = {"type": "content_block_start", "index": index}
                return _event({**start, "content_block": _block(step)})
            case BlockDelta(index):
                return b"".join(self._delta(index, delta) for delta in _deltas(step))
            case BlockEnded(index):
                signed = b""
                if index in self._unsigned:
                    signed = self._delta(index, _signature(None, None))
                return signed + _event({"type": "content_block_stop", "index": index})

    def _delta(self, index: int, delta: dict[str, Any]) -> bytes:
        if delta["type"] == "signature_delta":
            self._unsigned.discard(index)
        return _event({"type": "content_block_delta", "index": index, "delta": delta})


class _Ending:
    """What an answer says of itself as a whole."""

    def __init__(self) -> None:
        self.used: Used | None = None
        self._ended: Ended | None = None
        self._called = False
        self._refused = False

    @property
    def told(self) -> bool:
        return self._ended is not None

    def note(self, event: Event) -> None:
        match event:
            case Used():
                self.used = event
            case Ended():
                self._ended = event
            case CallBegan():
                self._called = True
            case RefusalDelta():
                self._refused = True

    def reasons(self) -> dict[str, Any]:
        ended = self._ended or Ended(Stop.END)
        reason = stop_reason(ended.stop, called=self._called, refused=self._refused)
        return {"stop_reason": reason, "stop_sequence": ended.sequence}


def error_event(failed: Failed) -> bytes:
    error = {"type": error_type(failed.status, failed.kind), "message": failed.message}
    return _event({"type": "error", "error": error})


def _event(data: dict[str, Any]) -> bytes:
    return frame(orjson.dumps(data), data["type"])


def _message(id: str, model: str, usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _block(began: BlockBegan) -> dict[str, Any]:
    """A block as it begins: empty, but for what comes whole."""
    match began.kind:
        case Kind.TEXT:
            return {"type": "text", "text": ""}
        case Kind.THINKING:
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Kind.REDACTED:
            return {"type": "redacted_thinking", "data": write_opaque(began.hidden, began.origin)}
        case Kind.CALL:
            call = began.call or CallBegan(0, "", "")
            return {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}


def _deltas(step: BlockDelta) -> list[dict[str, Any]]:
    match step.delta:
        case TextDelta(_, text) | RefusalDelta(_, text):
            return [{"type": "text_delta", "text": text}]
        case CallDelta(_, arguments):
            return [{"type": "input_json_delta", "partial_json": arguments}]
        case ReasoningDelta(_, text, signature, _, origin):
            deltas = [{"type": "thinking_delta", "thinking": text}] if text else []
            return [*deltas, _signature(signature, origin)] if signature else deltas
        case CallBegan():
            return []


def _signature(signature: str | None, origin: WireFormat | None) -> dict[str, Any]:
    return {"type": "signature_delta", "signature": write_opaque(signature, origin)}


_MEMBERS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "input"),
}
"""Type of a delta -> its member, and the block's that it goes on with."""


def _collect(content: list[dict[str, Any]], steps: list[Step]) -> None:
    """As a client collects a stream; a call's ``input`` is text until ``_finish``."""
    for step in steps:
        if isinstance(step, BlockBegan):
            block = _block(step)
            content.append({**block, "input": ""} if step.kind is Kind.CALL else block)
        elif isinstance(step, BlockDelta):
            for delta in _deltas(step):
                if delta["type"] == "signature_delta":
                    content[step.index]["signature"] = delta["signature"]
                    continue
                member, target = _MEMBERS[delta["type"]]
                content[step.index][target] += delta[member]


def _finish(block: dict[str, Any]) -> None:
    if block["type"] == "tool_use":
        block["input"] = to_input(block["input"])
    elif block["type"] == "thinking" and not block["signature"]:
        block["signature"] = write_opaque(None, None)
