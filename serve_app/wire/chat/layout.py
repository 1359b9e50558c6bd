"""Turns laid out as Chat messages (API-1).

Chat wants each call answered by a tool message directly after the message that called, nothing
but text in tool messages, and one text in an assistant's.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final, TypeAlias

from serve_app.wire.chat.parts import write_part
from serve_app.wire.neutral.conversation import (
    Conversation,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

_Json: TypeAlias = dict[str, Any]

_PARAGRAPH: Final = "\n\n"
_FAILED: Final = "The tool call failed."
_ELSEWHERE: Final = "More of the result is in the next message of the user."


def write_messages(conversation: Conversation) -> tuple[list[_Json], list[str]]:
    """Chat messages, and the paths of the parts that Chat has no place for.

    Texts that stand side by side are written as one string: some servers refuse lists of parts.
    """
    layout = _Layout(conversation.turns)
    if conversation.system:
        layout.say("system", _joined(conversation.system))
    for index, turn in enumerate(conversation.turns):
        layout.add(index, turn)
    layout.say_carried()
    return layout.messages, layout.lost


class _Layout:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self.messages: list[_Json] = []
        self.lost: list[str] = []
        self._turns = turns
        self._results = _places_of_results(turns)
        self._placed: set[tuple[int, int]] = set()
        self._carried: list[_Json] = []
        """What results hold beside text, for the next message of the user."""

    def add(self, index: int, turn: Turn) -> None:
        match turn.role:
            case "assistant":
                self._assistant(index, turn)
            case "user":
                self._user(index, turn)
            case "system":
                self._system(index, turn)

    def say(self, role: str, content: str | list[_Json] | None, **more: Any) -> None:
        self.messages.append({"role": role, "content": content, **more})

    def say_carried(self) -> None:
        if self._carried:
            self.say("user", self._carried)
            self._carried = []

    def _system(self, index: int, turn: Turn) -> None:
        texts = [part for part in turn.parts if isinstance(part, Text)]
        self._lose(index, (n for n, part in enumerate(turn.parts) if not isinstance(part, Text)))
        if texts:
            self.say("system", _joined(texts))

    def _assistant(self, index: int, turn: Turn) -> None:
        self.say_carried()
        self._lose(index, (n for n, part in enumerate(turn.parts) if not _is_said(part)))
        calls = [part for part in turn.parts if isinstance(part, ToolCall)]
        refusals = [part.text for part in turn.parts if isinstance(part, Refusal)]
        thoughts = [p.text for p in turn.parts if isinstance(p, Reasoning) and _is_said(p)]
        said: _Json = {}
        if thoughts:
            said["reasoning_content"] = _PARAGRAPH.join(thoughts)
        if refusals:
            said["refusal"] = _PARAGRAPH.join(refusals)
        if calls:
            said["tool_calls"] = [_call(call) for call in calls]
        text = _answer_text(turn.parts)
        if text or said:
            self.say("assistant", text or (None if calls or refusals else ""), **said)
        for call in calls:
            self._place_result(call, index)

    def _place_result(self, call: ToolCall, index: int) -> None:
        """The first result after its call, in whichever turn it stands."""
        places = self._results[call.id]
        while places:
            turn, number = places.popleft()
            if turn > index:
                self._placed.add((turn, number))
                self._result(turn, number)
                return

    def _user(self, index: int, turn: Turn) -> None:
        rest = []
        for number, part in enumerate(turn.parts):
            if not isinstance(part, ToolResult):
                rest.append(number)
            elif (index, number) not in self._placed:
                self._result(index, number)  # it answers no call: the provider may refuse it
        written = self._written(turn.parts, rest, f"turns[{index}]")
        content, self._carried = [*self._carried, *written], []
        if content:
            self.say("user", _plain(content))

    def _result(self, index: int, number: int) -> None:
        result = self._turns[index].parts[number]
        assert isinstance(result, ToolResult)
        place = f"turns[{index}].parts[{number}]"
        written = self._written(result.parts, range(len(result.parts)), place)
        texts = [part["text"] for part in written if part["type"] == "text"]
        others = [part for part in written if part["type"] != "text"]
        if others:
            texts.append(_ELSEWHERE)
            label = f"Result of the tool call {result.call_id}:"
            self._carried += [{"type": "text", "text": label}, *others]
        if result.failed:
            texts.insert(0, _FAILED)
        self.say("tool", _PARAGRAPH.join(texts), tool_call_id=result.call_id)

    def _written(self, parts: Sequence[Part], numbers: Iterable[int], place: str) -> list[_Json]:
        written = []
        for number in numbers:
            part = write_part(parts[number])
            if part is None:
                self.lost.append(f"{place}.parts[{number}]")
            else:
                written.append(part)
        return written

    def _lose(self, index: int, numbers: Iterable[int]) -> None:
        self.lost += [f"turns[{index}].parts[{number}]" for number in numbers]


def _places_of_results(turns: Sequence[Turn]) -> dict[str, deque[tuple[int, int]]]:
    """Turn and part of each result, in order, by the id of its call."""
    places: dict[str, deque[tuple[int, int]]] = defaultdict(deque)
    for index, turn in enumerate(turns):
        for number, part in enumerate(turn.parts):
            if turn.role == "user" and isinstance(part, ToolResult):
                places[part.call_id].append((index, number))
    return places


def _is_said(part: Part) -> bool:
    """Whether Chat has a place for it in an assistant's message.

    Open thoughts go back, since servers that show them may refuse a call without. One that is
    signed or encrypted is of a provider that speaks another format.
    """
    if isinstance(part, Reasoning):
        return bool(part.text) and not part.signature and not part.hidden
    return isinstance(part, (Text, Refusal, ToolCall))


def _answer_text(parts: Iterable[Part]) -> str:
    """Texts side by side are one text, cut where a citation began; others are paragraphs."""
    runs = groupby(parts, lambda part: isinstance(part, Text))
    texts = ("".join(p.text for p in run if isinstance(p, Text)) for text, run in runs if text)
    return _PARAGRAPH.join(text for text in texts if text)


def _joined(texts: Iterable[Text]) -> str:
    return _PARAGRAPH.join(text.text for text in texts)


def _plain(content: list[_Json]) -> str | list[_Json]:
    if all(part["type"] == "text" for part in content):
        return _PARAGRAPH.join(part["text"] for part in content)
    return content


def _call(call: ToolCall) -> _Json:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}
