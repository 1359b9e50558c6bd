"""Events as a Chat answer, whole or streamed (API-1, API-3, API-5).

Of the events' own, ``Began`` is not told: the client reads the router's id and model. Thoughts are
``reasoning_content``, as DeepSeek, vLLM and others name them; OpenAI's format has no name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from serve_app.wire.body import json_bytes
from serve_app.wire.chat.answer import DONE
from serve_app.wire.chat.failure import write_failure
from serve_app.wire.chat.finish import write_finish, write_usage
from serve_app.wire.frames import frame
from serve_app.wire.neutral.events import (
    Began,
    CallBegan,
    CallDelta,
    Delta,
    Ended,
    Event,
    Failed,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    Used,
)

_BROKE_OFF: Final = Failed("the answer broke off")


@dataclass(slots=True)
class _Message:
    """What an answer says, put together."""

    texts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: dict[int, CallBegan] = field(default_factory=dict)
    arguments: dict[int, list[str]] = field(default_factory=dict)
    ended: Ended | None = None
    used: Used | None = None
    failed: Failed | None = None

    def add(self, event: Event) -> None:
        match event:
            case TextDelta():
                self.texts.append(event.text)
            case RefusalDelta():
                self.refusals.append(event.text)
            case ReasoningDelta():
                self.thoughts.append(event.text)
            case CallBegan():
                self.calls[event.part] = event
                self.arguments[event.part] = []
            case CallDelta():
                self.arguments[event.part].append(event.arguments)
            case Ended():
                self.ended = event
            case Used():
                self.used = event
            case Failed():
                self.failed = self.failed or event

    def json(self) -> dict[str, Any]:
        text, refusal, thought = (
            "".join(said) for said in (self.texts, self.refusals, self.thoughts)
        )
        calls = [_call(call, "".join(self.arguments[part])) for part, call in self.calls.items()]
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if not text and (calls or refusal) else text,
            "refusal": refusal or None,
        }
        if thought:
            message["reasoning_content"] = thought
        if calls:
            message["tool_calls"] = calls
        return message


def whole(events: Iterable[Event], *, model: str, id: str, created: int) -> dict[str, Any]:
    """A completion of one choice, or the format's error body where the events tell of a failure
    or of no end. ``created``: seconds since 1970."""
    message = _Message()
    for event in events:
        message.add(event)
    if message.failed is not None or message.ended is None:
        return write_failure(message.failed or _BROKE_OFF)
    choice = {
        "index": 0,
        "message": message.json(),
        "logprobs": None,
        "finish_reason": write_finish(message.ended.stop),
    }
    head = {"id": id, "object": "chat.completion", "created": created, "model": model}
    usage = {} if message.used is None else {"usage": write_usage(message.used)}
    return {**head, "choices": [choice], **usage}


class ChunkWriter:
    """Gives the bytes of each event, and with ``end()`` what closes the stream: the usage in a
    chunk without choices, if the client asked for it, and ``[DONE]``.

    A failure is the format's error event, and the last one: no ``[DONE]`` follows, so that no
    client takes what it has for the whole answer.
    """

    def __init__(self, *, model: str, id: str, created: int, include_usage: bool) -> None:
        head = {"id": id, "object": "chat.completion.chunk", "created": created, "model": model}
        self._head = head | ({"usage": None} if include_usage else {})
        self._include_usage = include_usage
        self._began = False
        self._ended = False
        self._failed = False
        self._used: Used | None = None
        self._calls: dict[int, int] = {}

    def feed(self, event: Event) -> bytes:
        if self._failed:
            return b""
        match event:
            case Failed():
                self._failed = True
                return _frame(write_failure(event))
            case Used():
                self._used = event
                return b""
            case Ended():
                self._ended = True
                return self._chunk({}, write_finish(event.stop))
            case Began():
                return self._chunk({})
        delta = self._delta(event)
        return self._chunk(delta) if delta else b""

    def end(self) -> bytes:
        """Called once, after the last event. An answer without ``Ended`` broke off."""
        if self._failed:
            return b""
        if not self._ended:
            return self.feed(_BROKE_OFF)
        if not self._include_usage or self._used is None:
            return DONE
        return _frame({**self._head, "choices": [], "usage": write_usage(self._used)}) + DONE

    def _delta(self, event: Delta) -> dict[str, Any]:
        """Empty where the event says nothing that Chat has a word for, as a signature."""
        match event:
            case TextDelta():
                return {"content": event.text} if event.text else {}
            case RefusalDelta():
                return {"refusal": event.text} if event.text else {}
            case ReasoningDelta():
                return {"reasoning_content": event.text} if event.text else {}
            case CallBegan():
                index = self._calls[event.part] = len(self._calls)
                return {"tool_calls": [{"index": index, **_call(event, "")}]}
            case CallDelta():
                function = {"arguments": event.arguments}
                return {"tool_calls": [{"index": self._calls[event.part], "function": function}]}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        role = b"" if self._began else self._choice({"role": "assistant", "content": ""}, None)
        self._began = True
        said = self._choice(delta, finish) if delta or finish else b""
        return role + said

    def _choice(self, delta: dict[str, Any], finish: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _frame({**self._head, "choices": [choice]})


def _call(call: CallBegan, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _frame(data: dict[str, Any]) -> bytes:
    return frame(json_bytes(data))
