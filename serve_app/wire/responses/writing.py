"""A conversation of another format as a request to a provider that speaks Responses (API-1).

``lost`` goes on from the conversation's own, by the neutral form's paths: ``seed``,
``turns[2].parts[0].reasoning``.
"""

from __future__ import annotations

from typing import Any, Final

from serve_app.wire.neutral.conversation import (
    Conversation,
    OutputFormat,
    Reasoning,
    Sampling,
    Thinking,
    Tool,
    ToolChoice,
    Written,
)
from serve_app.wire.responses.conversation import ENCRYPTED
from serve_app.wire.responses.sealing import encrypted_of
from serve_app.wire.responses.written_turns import WrittenTurns

_EFFORTS: Final = ((2048, "low"), (8192, "medium"))
"""A budget of thinking tokens up to which an effort is meant; above: ``high``."""

_SCHEMA_NAME: Final = "answer"
"""Of a schema that its format does not name; this one must."""


def write_request(conversation: Conversation, model: str) -> Written:
    """The body. Nothing is stored at the provider: the client has not asked for it."""
    turns = WrittenTurns()
    turns.write(conversation.turns)
    body: dict[str, Any] = {
        "model": model,
        "input": turns.items,
        "store": False,
        "instructions": "\n\n".join(text.text for text in conversation.system) or None,
        "stream": conversation.stream or None,
        "tools": [_tool(tool) for tool in conversation.tools] or None,
        "text": None if conversation.output is None else _text(conversation.output),
        "reasoning": _reasoning(conversation.thinking),
        "include": _include(conversation),
        "user": conversation.user,
        "metadata": dict(conversation.metadata) or None,
        **_choice(conversation.tool_choice),
        **_sampling(conversation.sampling),
    }
    lost = (*conversation.lost, *turns.lost, *_lost(conversation))
    return Written({name: value for name, value in body.items() if value is not None}, lost)


def _tool(tool: Tool) -> dict[str, Any]:
    """``strict`` is said, for here it is the default, and nowhere else."""
    described = {} if tool.description is None else {"description": tool.description}
    return {
        "type": "function",
        "name": tool.name,
        **described,
        "parameters": tool.parameters,
        "strict": tool.strict is True,
    }


def _choice(choice: ToolChoice) -> dict[str, Any]:
    mode = {"type": "function", "name": choice.name} if choice.mode == "tool" else choice.mode
    return {"tool_choice": mode, "parallel_tool_calls": choice.parallel}


def _sampling(sampling: Sampling) -> dict[str, Any]:
    return {
        "max_output_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
    }


def _text(output: OutputFormat) -> dict[str, Any]:
    if output.schema is None:
        return {"format": {"type": "json_object"}}
    given: dict[str, Any] = {
        "type": "json_schema",
        "name": output.name or _SCHEMA_NAME,
        "schema": output.schema,
    }
    return {"format": given if output.strict is None else {**given, "strict": output.strict}}


def _reasoning(thinking: Thinking) -> dict[str, Any] | None:
    if thinking.off:
        return {"effort": "none"}
    if thinking.effort is not None:
        return {"effort": thinking.effort}
    budget = thinking.budget_tokens
    if budget is None:
        return None
    return {"effort": next((effort for most, effort in _EFFORTS if budget <= most), "high")}


def _include(conversation: Conversation) -> list[str] | None:
    """Encrypted reasoning, without which nothing that is not stored can be sent back. Models that
    do not reason refuse the question, so it is asked where the client speaks of reasoning."""
    thinking = conversation.thinking
    thinks = not thinking.off and (thinking.effort or thinking.budget_tokens)
    reasoned = any(
        isinstance(part, Reasoning) and encrypted_of(part.hidden, part.origin)
        for turn in conversation.turns
        for part in turn.parts
    )
    return [ENCRYPTED] if thinks or reasoned else None


def _lost(conversation: Conversation) -> list[str]:
    sampling = conversation.sampling
    said = {
        "stop": sampling.stop,
        "top_k": sampling.top_k is not None,
        "seed": sampling.seed is not None,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
        "thinking.budget_tokens": conversation.thinking.budget_tokens,
    }
    return [name for name, value in said.items() if value]
