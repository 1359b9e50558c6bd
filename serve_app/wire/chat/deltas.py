"""What a message says, whole or piece by piece, as events (API-1, API-3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import uuid4

from models.questions.types import JsonValue
from serve_app.wire.body import json_bytes
from serve_app.wire.chat.finish import failed
from serve_app.wire.neutral.events import (
    CallBegan,
    CallDelta,
    Delta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)

_Speech: TypeAlias = type[TextDelta] | type[RefusalDelta] | type[ReasoningDelta]


@dataclass(slots=True)
class _Call:
    """``held``: arguments that came before the call could begin."""

    id: str = ""
    name: str = ""
    held: list[str] = field(default_factory=list)
    part: int | None = None


class Deltas:
    """Takes the deltas of choice 0 in order.

    Text, thoughts and refusals go on with the same part until another part opens; calls go on
    whenever a delta of theirs comes. ``RouterError`` (``provider_failed``): a delta is none.
    """

    def __init__(self) -> None:
        self._parts = 0
        self._speech: _Speech | None = None
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    @property
    def called(self) -> bool:
        return bool(self._calls)

    def take(self, delta: JsonValue) -> list[Delta]:
        if not isinstance(delta, dict):
            raise failed("the provider's delta is no object")
        events: list[Delta] = []
        for speech, text in _spoken(delta):
            if text:
                events.append(self._speak(speech, text))
        calls = delta.get("tool_calls") or []
        if not isinstance(calls, list):
            raise failed("the provider's tool_calls are no list")
        for call in calls:
            events += self._call(call)
        if delta.get("function_call"):  # the form before there were tools, and one call at most
            events += self._call({"index": -1, "function": delta["function_call"]})
        return events

    def close(self) -> list[Delta]:
        """The calls that no id came for, which get one here."""
        events: list[Delta] = []
        for call in self._calls:
            if call.part is None:
                if not call.name:
                    raise failed("the provider called a tool without its name")
                call.id = call.id or f"call_{uuid4().hex}"
                events += self._begin(call)
        return events

    def _speak(self, speech: _Speech, text: str) -> Delta:
        if speech is not self._speech:
            self._speech = speech
            self._parts += 1
        return speech(self._parts - 1, text)

    def _call(self, given: JsonValue) -> list[Delta]:
        if not isinstance(given, dict) or not isinstance(given.get("function") or {}, dict):
            raise failed("the provider's tool call is no function call")
        function = given.get("function") or {}
        call_id, name = _string(given, "id"), _string(function, "name")
        arguments = _arguments(function)
        if not (call_id or name or arguments):
            return []
        call = self._find(given.get("index"), call_id, name)
        call.id, call.name = call.id or call_id, call.name or name
        if call.part is not None:
            return [CallDelta(call.part, arguments)] if arguments else []
        call.held.append(arguments)
        # Its id may be still to come; the provider wants its own one back.
        return self._begin(call) if call.id and call.name else []

    def _begin(self, call: _Call) -> list[Delta]:
        self._speech = None
        call.part = self._parts
        self._parts += 1
        events: list[Delta] = [CallBegan(call.part, call.id, call.name)]
        if held := "".join(call.held):
            events.append(CallDelta(call.part, held))
        return events

    def _find(self, index: JsonValue, call_id: str, name: str) -> _Call:
        """The call that a delta goes on with, or a new one.

        Beside the standard's ``index`` there are servers that leave it out (Ollama, Gemini) and
        such that count every call as the first; both tell calls apart by id.
        """
        if index is not None and (not isinstance(index, int) or isinstance(index, bool)):
            raise failed("the provider's tool call has an index that is no integer")
        if index is None:
            known = next((call for call in self._calls if call_id and call.id == call_id), None)
            if known is None and not call_id and not name and self._calls:
                known = self._calls[-1]
            return known or self._new()
        known = self._by_index.get(index)
        if known is None or (name and call_id and known.id not in ("", call_id)):
            known = self._by_index[index] = self._new()
        return known

    def _new(self) -> _Call:
        call = _Call()
        self._calls.append(call)
        return call


def _spoken(delta: dict[str, JsonValue]) -> Iterator[tuple[_Speech, str]]:
    # The same text may stand under both names.
    thoughts = (delta.get(name) for name in ("reasoning_content", "reasoning"))
    yield ReasoningDelta, next((text for text in thoughts if isinstance(text, str) and text), "")
    content = delta.get("content")
    if isinstance(content, list):
        yield from _spoken_parts(content)
    else:
        yield TextDelta, _string(delta, "content")
    yield RefusalDelta, _string(delta, "refusal")


def _spoken_parts(content: list[JsonValue]) -> Iterator[tuple[_Speech, str]]:
    """Mistral's models that think answer in parts, of ``text`` and of ``thinking``."""
    for part in content:
        if not isinstance(part, dict):
            raise failed("the provider's content has a part that is no object")
        thinking = part.get("thinking")
        if isinstance(thinking, list):
            for thought in thinking:
                if isinstance(thought, dict):
                    yield ReasoningDelta, _string(thought, "text")
        else:
            yield TextDelta, _string(part, "text")


def _string(given: dict[str, JsonValue], name: str) -> str:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise failed(f"the provider's {name} is no string")
    return value or ""


def _arguments(function: dict[str, JsonValue]) -> str:
    """Some servers write them as the object that their text should be of."""
    given = function.get("arguments")
    return json_bytes(given).decode() if isinstance(given, dict) else _string(function, "arguments")
