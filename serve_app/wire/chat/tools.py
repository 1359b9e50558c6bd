"""Tools and the choice among them, read and written (API-1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from models.questions.types import JsonValue
from serve_app.wire.chat.members import Members
from serve_app.wire.neutral.conversation import Tool, ToolChoice
from serve_app.wire.places import path


def read_tools(body: Members) -> tuple[tuple[Tool, ...], ToolChoice]:
    """``tools``, ``tool_choice`` and ``parallel_tool_calls``, with ``functions`` and
    ``function_call`` of old. Tools that are no functions are lost.

    ``RouterError`` names what is malformed.
    """
    tools = [_read_tool(tool) for tool in _each(body, "tools")]
    tools += [_read_function(function) for function in _each(body, "functions")]
    found = tuple(tool for tool in tools if tool is not None)
    choice, allowed = _read_choice(body)
    if allowed is not None:
        found = tuple(tool for tool in found if tool.name in allowed)
    return found, replace(choice, parallel=body.flag("parallel_tool_calls"))


def _each(body: Members, name: str) -> list[Members]:
    items = enumerate(body.items(name))
    return [Members(item, (*body.loc, name, index), body.lost) for index, item in items]


def _read_tool(tool: Members) -> Tool | None:
    if tool.name("type") != "function":
        tool.lost.append(path(tool.loc))
        return None
    function = tool.members("function")
    if function is None:
        raise tool.wrong("function", "must be an object")
    tool.close()
    return _read_function(function)


def _read_function(function: Members) -> Tool:
    read = Tool(
        name=function.name("name"),
        description=function.string("description"),
        parameters=function.mapping("parameters"),
        strict=function.flag("strict"),
    )
    function.close()
    return read


def _read_choice(body: Members) -> tuple[ToolChoice, frozenset[str] | None]:
    """The choice, and the names of the tools that it leaves."""
    given, old = body.take("tool_choice"), body.take("function_call")
    name = "function_call" if given is None else "tool_choice"
    given = old if given is None else given
    match given:
        case None | "":
            return ToolChoice(), None
        case "auto" | "none" | "required":
            return ToolChoice(given), None
        case "any":  # Mistral's word
            return ToolChoice("required"), None
        case str():
            raise body.wrong(name, "must be none, auto, required or an object")
    choice = Members(given, (*body.loc, name), body.lost)
    if name == "function_call":
        return _named(choice), None
    match choice.name("type"):
        case "function":
            function = choice.members("function")
            if function is None:
                raise choice.wrong("function", "must be an object")
            choice.close()
            return _named(function), None
        case "allowed_tools":
            return _allowed(choice)
    body.lose(name)
    return ToolChoice(), None


def _named(function: Members) -> ToolChoice:
    choice = ToolChoice("tool", function.name("name"))
    function.close()
    return choice


def _allowed(choice: Members) -> tuple[ToolChoice, frozenset[str]]:
    """A set of allowed tools is the choice among these alone."""
    allowed = choice.members("allowed_tools")
    if allowed is None:
        raise choice.wrong("allowed_tools", "must be an object")
    mode = allowed.take("mode")
    if mode not in ("auto", "required"):
        raise allowed.wrong("mode", "must be auto or required")
    names = frozenset(
        function.name("name")
        for tool in _each(allowed, "tools")
        if (function := tool.members("function")) is not None
    )
    return ToolChoice(mode), names


def write_tools(tools: tuple[Tool, ...], choice: ToolChoice) -> dict[str, Any]:
    """Members of the body. A choice among no tools is none: servers refuse it."""
    if not tools:
        return {}
    body: dict[str, Any] = {"tools": [_write_tool(tool) for tool in tools]}
    if choice.mode is not None:
        body["tool_choice"] = _write_choice(choice)
    if choice.parallel is not None:
        body["parallel_tool_calls"] = choice.parallel
    return body


def _write_tool(tool: Tool) -> dict[str, JsonValue]:
    given = {
        "description": tool.description,
        "parameters": None if tool.parameters is None else dict(tool.parameters),
        "strict": tool.strict,
    }
    said = {name: value for name, value in given.items() if value is not None}
    return {"type": "function", "function": {"name": tool.name, **said}}


def _write_choice(choice: ToolChoice) -> JsonValue:
    if choice.mode != "tool":
        return choice.mode
    return {"type": "function", "function": {"name": choice.name}}
