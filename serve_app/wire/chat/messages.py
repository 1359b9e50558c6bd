"""A Chat body's messages as turns (API-1)."""

from __future__ import annotations

from typing import Final

from models.questions.types import JsonValue
from serve_app.wire.body import json_bytes
from serve_app.wire.chat import parts
from serve_app.wire.chat.members import Members
from serve_app.wire.chat.request import ROLES
from serve_app.wire.neutral.conversation import (
    File,
    Image,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from serve_app.wire.places import invalid

_NO_ARGUMENTS: Final = "{}"


class Messages:
    """Takes messages in their order. ``RouterError`` names what is malformed.

    System messages before all others open the conversation. Tool messages that follow one another
    are one turn. A message that says nothing is no turn.
    """

    def __init__(self, lost: list[str]) -> None:
        self.system: list[Text] = []
        self.turns: list[Turn] = []
        self._lost = lost
        self._results: list[ToolResult] = []
        self._function_calls: dict[str, str] = {}

    def take(self, given: JsonValue, index: int) -> None:
        message = Members(given, ("messages", index), self._lost)
        role = message.take("role")
        match role:
            case "tool" | "function":
                self._result(message, role, index)
            case "system" | "developer":
                self._add_system(message)
            case "user":
                self._turn(Turn("user", tuple(self._content(message))))
            case "assistant":
                self._turn(Turn("assistant", tuple(self._answer(message, index))))
            case _:
                raise message.wrong("role", f"must be one of: {', '.join(ROLES)}")
        message.close()

    def close(self) -> None:
        if self._results:
            self.turns.append(Turn("user", tuple(self._results)))
            self._results = []

    def _turn(self, turn: Turn) -> None:
        self.close()
        if turn.parts:
            self.turns.append(turn)

    def _add_system(self, message: Members) -> None:
        read = parts.read_parts(
            message.take("content"), (*message.loc, "content"), self._lost, parts.SYSTEM
        )
        texts = [part for part in read if isinstance(part, Text)]
        if self.turns or self._results:
            self._turn(Turn("system", tuple(texts)))
        else:
            self.system += texts

    def _content(self, message: Members) -> list[Text | Image | File]:
        read = parts.read_parts(
            message.take("content"), (*message.loc, "content"), self._lost, parts.USER
        )
        return [part for part in read if not isinstance(part, Refusal)]

    def _answer(self, message: Members, index: int) -> list[Part]:
        found: list[Part] = [Reasoning(text) for text in _reasoning(message)]
        found += parts.read_parts(
            message.take("content"), (*message.loc, "content"), self._lost, parts.ASSISTANT
        )
        if refusal := message.string("refusal"):
            found.append(Refusal(refusal))
        for number, call in enumerate(message.items("tool_calls")):
            found.append(
                _tool_call(Members(call, (*message.loc, "tool_calls", number), self._lost))
            )
        call = message.members("function_call")
        return found if call is None else [*found, self._function_call(call, index)]

    def _function_call(self, call: Members, index: int) -> ToolCall:
        """The older form has no ids: a result finds its call by the function's name."""
        read = ToolCall(f"function_call_{index}", call.name("name"), _arguments(call))
        self._function_calls[read.name] = read.id
        call.close()
        return read

    def _result(self, message: Members, role: str, index: int) -> None:
        if role == "tool":
            call_id = message.name("tool_call_id")
        else:
            call_id = self._function_calls.pop(message.name("name"), f"function_call_{index}")
        self._results.append(ToolResult(call_id, tuple(self._content(message))))


def _reasoning(message: Members) -> list[str]:
    """``reasoning_content`` is DeepSeek's name and many others', ``reasoning`` OpenRouter's and
    vLLM's; some servers write the same text under both."""
    found = [message.string("reasoning_content"), message.string("reasoning")]
    return [text for text in found if text][:1]


def _tool_call(call: Members) -> ToolCall:
    call_id, kind = call.name("id"), call.string("type")
    call.take("index")  # of a stream's delta that a client kept
    if kind not in (None, "function", "custom"):
        raise call.wrong("type", "must be function or custom")
    function = call.members(kind or "function")
    if function is None:
        raise call.wrong(kind or "function", "must be an object")
    name = function.name("name")
    if kind == "custom":
        # Where every tool is a function, free text is its one argument.
        arguments = json_bytes({"input": function.string("input") or ""}).decode()
    else:
        arguments = _arguments(function)
    function.close()
    call.close()
    return ToolCall(call_id, name, arguments)


def _arguments(function: Members) -> str:
    given = function.take("arguments")
    if given is None or given == "":
        return _NO_ARGUMENTS
    if isinstance(given, dict):
        return json_bytes(given).decode()
    if not isinstance(given, str):
        raise function.wrong("arguments", "must be a string")
    return given


def read_messages(given: list[JsonValue], lost: list[str]) -> Messages:
    messages = Messages(lost)
    for index, message in enumerate(given):
        messages.take(message, index)
    messages.close()
    if not messages.turns and not messages.system:
        raise invalid("messages hold nothing that can be passed on", ("messages",))
    return messages
