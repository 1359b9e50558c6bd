"""A Messages body as a conversation, for a provider of another format (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

from models.questions.types import JsonValue
from serve_app.wire.anthropic.blocks import read_parts
from serve_app.wire.anthropic.fields import Fields, Losses
from serve_app.wire.anthropic.request import read_request
from serve_app.wire.neutral.conversation import (
    Conversation,
    OutputFormat,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolChoice,
    Turn,
)
from serve_app.wire.places import invalid

_MODES: Final[Mapping[str, Literal["auto", "none", "required", "tool"]]] = {
    "auto": "auto",
    "any": "required",
    "tool": "tool",
    "none": "none",
}

_ROLES: Final[Mapping[str, Literal["system", "user", "assistant"]]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
}

_EFFORTS: Final = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}


def read_conversation(body: JsonValue) -> Conversation:
    """Everything that the body says. ``RouterError`` names the field that is wrong.

    What has no place is in ``lost`` by its path, ``cache_control`` once for the whole body.
    """
    request = read_request(body)
    lost = Losses()
    fields = Fields(request.body, (), lost)
    for name in ("model", "stream"):
        fields.take(name)
    system = _system(fields)
    opening, turns = _turns(fields)
    tools = _tools(fields)
    thinking, output = _thinking_and_output(fields)
    user, metadata = _metadata(fields)
    conversation = Conversation(
        model=request.model,
        system=system + opening,
        turns=turns,
        tools=tools,
        tool_choice=_tool_choice(fields, {tool.name for tool in tools}),
        output=output,
        sampling=Sampling(
            max_tokens=fields.integer("max_tokens"),
            temperature=fields.number("temperature"),
            top_p=fields.number("top_p"),
            top_k=fields.integer("top_k"),
            stop=fields.texts("stop_sequences"),
        ),
        thinking=thinking,
        stream=request.stream,
        user=user,
        metadata=metadata,
    )
    fields.close()
    return replace(conversation, lost=lost.paths())


def _system(fields: Fields) -> tuple[Text, ...]:
    given = fields.take("system")
    if given is None:
        return ()
    parts = read_parts(given, "system", ("system",), fields.lost)
    return tuple(part for part in parts if isinstance(part, Text))


def _turns(fields: Fields) -> tuple[tuple[Text, ...], tuple[Turn, ...]]:
    """The texts of system messages that open the list, and the turns after them."""
    opening: list[Text] = []
    turns: list[Turn] = []
    for index, item in enumerate(fields.items("messages")):
        message = Fields(item, ("messages", index), fields.lost)
        role = message.text("role")
        if role not in _ROLES:
            raise invalid(f"must be one of: {', '.join(_ROLES)}", (*message.loc, "role"))
        parts = read_parts(message.take("content"), role, (*message.loc, "content"), fields.lost)
        message.close()
        if role == "system" and not turns:
            opening += [part for part in parts if isinstance(part, Text)]
        else:
            turns.append(Turn(_ROLES[role], parts))
    return tuple(opening), tuple(turns)


def _tools(fields: Fields) -> tuple[Tool, ...]:
    """Tools of the client's own; those that Anthropic defines are lost."""
    tools = []
    for index, item in enumerate(fields.items("tools")):
        tool = Fields(item, ("tools", index), fields.lost)
        if tool.string("type") not in (None, "custom"):
            tool.lose()
            continue
        tools.append(
            Tool(
                name=tool.text("name"),
                description=tool.string("description"),
                parameters=tool.object("input_schema"),
                strict=tool.flag("strict"),
            )
        )
        tool.close()
    return tuple(tools)


def _tool_choice(fields: Fields, names: set[str]) -> ToolChoice:
    choice = fields.optional_child("tool_choice")
    if choice is None:
        return ToolChoice()
    mode = _MODES.get(choice.text("type"))
    name = choice.text("name") if mode == "tool" else None
    single = choice.flag("disable_parallel_tool_use")
    parallel = None if single is None else not single
    choice.close()
    lost_tool = (mode == "tool" and name not in names) or (mode == "required" and not names)
    if mode is None or lost_tool:
        fields.lost.add(choice.loc)
        return ToolChoice(parallel=parallel)
    return ToolChoice(mode, name, parallel)


def _thinking_and_output(fields: Fields) -> tuple[Thinking, OutputFormat | None]:
    config = fields.optional_child("output_config")
    effort = None if config is None else _effort(config)
    output = None if config is None else _output(config)
    if config is not None:
        config.close()
    budget, off = None, False
    thinking = fields.optional_child("thinking")
    if thinking is not None:
        match thinking.text("type"):
            case "enabled":
                budget = thinking.integer("budget_tokens")
            case "disabled":
                off = True
            case _ if effort is None:  # as much as the model likes, which other formats do not say
                fields.lost.add((*thinking.loc, "type"))
        thinking.close()
    return Thinking(effort, budget, off), output


def _effort(config: Fields) -> str | None:
    """Efforts above the others' highest become that, and are named."""
    given = config.string("effort")
    effort = _EFFORTS.get(given or "")
    if given != effort:
        config.lost.add((*config.loc, "effort"))
    return effort


def _output(config: Fields) -> OutputFormat | None:
    given = config.optional_child("format")
    if given is None:
        return None
    if given.text("type") != "json_schema":
        given.lose()
        return None
    output = OutputFormat(schema=given.object("schema"))
    given.close()
    return output


def _metadata(fields: Fields) -> tuple[str | None, dict[str, str]]:
    """The client's name of its user, and what else is text."""
    given = fields.optional_child("metadata")
    if given is None:
        return None, {}
    user = given.string("user_id")
    others = given.take_texts()
    given.close()
    return user, others
