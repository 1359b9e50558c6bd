"""A conversation of another format as the body for a provider of Messages (API-1)."""

from __future__ import annotations

from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.wire.anthropic.accepts import accepts
from serve_app.wire.anthropic.thinking import write_sampling, write_thinking
from serve_app.wire.anthropic.turns import write_text, write_turns
from serve_app.wire.neutral.conversation import (
    Conversation,
    OutputFormat,
    Text,
    Tool,
    ToolChoice,
    Written,
)

_CHOICES: Final = {"auto": "auto", "required": "any", "tool": "tool", "none": "none"}


def write_request(conversation: Conversation, model: str) -> Written:
    """The body for ``model``. System turns in the middle go to the top, as in Anthropic's own
    endpoint for OpenAI's format: there they keep their authority.
    """
    lost: list[str] = []
    sampling = conversation.sampling
    accepted = accepts(model)
    max_tokens = accepted.max_tokens if sampling.max_tokens is None else sampling.max_tokens
    messages = write_turns(conversation.turns, lost)
    thinking = write_thinking(conversation, accepted, max_tokens, messages, lost)
    members = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": messages,
        "system": _system(conversation),
        "tools": [_tool(tool) for tool in conversation.tools],
        "tool_choice": _tool_choice(conversation.tool_choice, conversation.tools, lost),
        "thinking": thinking.config,
        **write_sampling(sampling, accepted, thinking.has_budget, lost),
        "output_config": _output_config(conversation.output, thinking.effort, lost),
        "metadata": {"user_id": conversation.user} if conversation.user is not None else None,
        "stream": conversation.stream or None,
    }
    lost += [f"metadata.{name}" for name in conversation.metadata]
    body = {name: value for name, value in members.items() if value is not None and value != []}
    return Written(body, (*conversation.lost, *lost))


def _system(conversation: Conversation) -> str | list[dict[str, Any]]:
    blocks = [block for text in conversation.system for block in write_text(text.text)]
    for turn in conversation.turns:
        if turn.role == "system":
            texts = [part.text for part in turn.parts if isinstance(part, Text)]
            blocks += [block for text in texts for block in write_text(text)]
    return str(blocks[0]["text"]) if len(blocks) == 1 else blocks


def _tool(tool: Tool) -> dict[str, Any]:
    schema = {"type": "object", **(tool.parameters or {"properties": {}})}
    written: dict[str, Any] = {"name": tool.name, "input_schema": schema}
    if tool.description is not None:
        written["description"] = tool.description
    if tool.strict is not None:
        written["strict"] = tool.strict
    return written


def _tool_choice(
    choice: ToolChoice, tools: tuple[Tool, ...], lost: list[str]
) -> dict[str, Any] | None:
    if not tools:  # Messages refuses a choice among none
        if choice.mode in ("required", "tool"):
            lost.append("tool_choice")
        return None
    if choice.mode is None and choice.parallel is None:
        return None
    written: dict[str, Any] = {"type": _CHOICES[choice.mode or "auto"]}
    if choice.mode == "tool":
        written["name"] = choice.name
    if choice.parallel is not None and choice.mode != "none":
        written["disable_parallel_tool_use"] = not choice.parallel
    return written


def _output_config(
    output: OutputFormat | None, effort: str | None, lost: list[str]
) -> dict[str, Any] | None:
    """A schema as the format's own, where every object of it is closed: Messages refuses others.
    "Any JSON object" cannot be said.
    """
    config: dict[str, Any] = {} if effort is None else {"effort": effort}
    if output is not None and output.schema is not None and _is_closed(output.schema):
        config["format"] = {"type": "json_schema", "schema": output.schema}
    elif output is not None:
        lost.append("output")
    return config or None


def _is_closed(schema: JsonValue) -> bool:
    if isinstance(schema, list):
        return all(_is_closed(member) for member in schema)
    if not isinstance(schema, dict):
        return True
    kinds = schema.get("type")
    is_object = "object" in kinds if isinstance(kinds, list) else kinds == "object"
    if is_object and schema.get("additionalProperties") is not False:
        return False
    return all(_is_closed(member) for member in schema.values())
