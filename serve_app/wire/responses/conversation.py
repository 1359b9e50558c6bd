"""A Responses body as a conversation that other formats can say (API-1).

``lost`` names by the client's own path what they cannot: built-in tools and their items, what is
kept at the provider, and the service that the client would pay for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from models.questions.types import JsonValue
from serve_app.wire.neutral.conversation import (
    Conversation,
    OutputFormat,
    Sampling,
    Thinking,
    Tool,
    ToolChoice,
)
from serve_app.wire.responses.fields import Defaults, Fields
from serve_app.wire.responses.request import read_request
from serve_app.wire.responses.turns import Turns

ENCRYPTED: Final = "reasoning.encrypted_content"
"""In ``include``: reasoning goes back and forth encrypted, as it does with every provider that
encrypts it."""

_ENVELOPE: Final = ("model", "stream", "store", "stream_options")
"""Of the answer's way to the client, which the router keeps itself."""

_DEFAULTS: Final[Defaults] = {
    "background": (False,),
    "service_tier": ("auto", "default"),
    "top_logprobs": (0,),
    "truncation": ("disabled",),
}
_TOOL_DEFAULTS: Final[Defaults] = {
    "allowed_callers": (["direct"],),
    "async": (False,),
    "defer_loading": (False,),
}
_TEXT_DEFAULTS: Final[Defaults] = {"verbosity": ("medium",)}
_REASONING_DEFAULTS: Final[Defaults] = {"context": ("auto",), "mode": ("standard",)}


@dataclass(frozen=True, slots=True)
class Choice:
    """``only``: the names of the functions that may be called, ``None`` for all."""

    tool_choice: ToolChoice
    only: frozenset[str] | None = None


def read_conversation(body: JsonValue) -> Conversation:
    """``RouterError`` names the field that is wrong."""
    request = read_request(body)
    fields = Fields(request.body, ())
    turns = Turns()
    turns.read(fields)
    lost = turns.lost
    choice = _choice(fields, lost)
    tools = [tool for item in fields.objects("tools") for tool in _tools(item, lost)]
    for name in _ENVELOPE:
        fields.take(name)
    return Conversation(
        model=request.model,
        turns=tuple(turns.turns),
        system=tuple(turns.system),
        tools=tuple(t for t in tools if choice.only is None or t.name in choice.only),
        tool_choice=choice.tool_choice,
        output=_output(fields, lost),
        sampling=Sampling(
            max_tokens=fields.integer("max_output_tokens"),
            temperature=fields.number("temperature"),
            top_p=fields.number("top_p"),
        ),
        thinking=_thinking(fields, lost),
        stream=request.stream,
        user=_user(fields),
        metadata=_metadata(fields),
        lost=(*lost, *_included(fields), *fields.rest(_DEFAULTS)),
    )


def _tools(item: Fields, lost: list[str]) -> list[Tool]:
    kind = item.required("type")
    if kind != "function":
        lost.append(item.place(kind))
        return []
    parameters = item.object("parameters")
    tool = Tool(
        name=item.required("name"),
        description=item.string("description"),
        parameters=None if parameters is None else parameters.given,
        strict=item.flag("strict"),
    )
    lost += item.rest(_TOOL_DEFAULTS)
    return [tool]


def _choice(fields: Fields, lost: list[str]) -> Choice:
    parallel = fields.flag("parallel_tool_calls")
    given = fields.take("tool_choice")
    match given:
        case None:
            return Choice(ToolChoice(parallel=parallel))
        case "auto" | "none" | "required":
            return Choice(ToolChoice(given, parallel=parallel))
        case dict():
            return _choice_of(Fields(given, ("tool_choice",)), parallel, lost)
    raise fields.wrong("tool_choice", "must be auto, none, required or an object")


def _choice_of(given: Fields, parallel: bool | None, lost: list[str]) -> Choice:
    kind = given.required("type")
    if kind == "function":
        return Choice(ToolChoice("tool", given.required("name"), parallel))
    if kind != "allowed_tools":
        lost.append(given.place(kind))
        return Choice(ToolChoice(parallel=parallel))
    mode = given.take("mode")
    if mode != "auto" and mode != "required":
        raise given.wrong("mode", "must be auto or required")
    names = [item.required("name") for item in _functions(given)]
    return Choice(ToolChoice(mode, parallel=parallel), frozenset(names))


def _functions(allowed: Fields) -> list[Fields]:
    return [item for item in allowed.objects("tools") if item.required("type") == "function"]


def _output(fields: Fields, lost: list[str]) -> OutputFormat | None:
    text = fields.object("text")
    if text is None:
        return None
    given = text.object("format")
    lost += text.rest(_TEXT_DEFAULTS)
    kind = "text" if given is None else given.required("type")
    if given is None or kind == "text":
        return None
    if kind == "json_object":
        return OutputFormat()
    if kind != "json_schema":
        lost.append(given.place(kind))
        return None
    schema = given.object("schema")
    if schema is None:
        raise given.wrong("schema", "is missing")
    output = OutputFormat(schema.given, given.required("name"), given.flag("strict"))
    lost += given.rest()
    return output


def _thinking(fields: Fields, lost: list[str]) -> Thinking:
    reasoning = fields.object("reasoning")
    if reasoning is None:
        return Thinking()
    effort = reasoning.string("effort")
    lost += reasoning.rest(_REASONING_DEFAULTS)
    return Thinking(off=True) if effort == "none" else Thinking(effort or None)


def _included(fields: Fields) -> list[str]:
    lost = []
    for index, (name, _) in enumerate(fields.members("include")):
        if not isinstance(name, str):
            raise fields.wrong("include", "must be a list of strings")
        if name != ENCRYPTED:
            lost.append(f"include[{index}]")
    return lost


def _user(fields: Fields) -> str | None:
    """``safety_identifier`` has replaced ``user``; where both stand, both are of one person."""
    old, new = fields.string("user"), fields.string("safety_identifier")
    return new or old or None


def _metadata(fields: Fields) -> Mapping[str, str]:
    given = fields.object("metadata")
    if given is None:
        return {}
    return {name: given.required(name) for name in given.given}
