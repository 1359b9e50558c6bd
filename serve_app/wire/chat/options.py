"""Sampling, thinking and the form of the answer, read and written (API-1)."""

from __future__ import annotations

from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.wire.chat.members import Members
from serve_app.wire.neutral.conversation import OutputFormat, Sampling, Thinking

EFFORTS: Final = ("minimal", "low", "medium", "high", "xhigh", "max")

_LOW_BUDGET: Final = 4096
_MEDIUM_BUDGET: Final = 16384
"""Tokens of thinking below which an effort is low, and medium. Both are a judgement: neither
format says what an effort costs.
"""

_OUTPUT_NAME: Final = "answer"
"""Chat wants a schema to have a name."""


def read_sampling(body: Members) -> Sampling:
    """``RouterError`` names a value of the wrong type; ranges are the provider's to judge."""
    top_k = body.integer("top_k")
    return Sampling(
        max_tokens=_read_max_tokens(body),
        temperature=body.number("temperature"),
        top_p=body.number("top_p"),
        # Not OpenAI's; where servers have it, 0 and -1 turn it off.
        top_k=top_k if top_k is not None and top_k > 0 else None,
        stop=_read_stop(body),
        seed=body.integer("seed"),
        frequency_penalty=body.number("frequency_penalty"),
        presence_penalty=body.number("presence_penalty"),
    )


def _read_max_tokens(body: Members) -> int | None:
    old, new = body.integer("max_tokens"), body.integer("max_completion_tokens")
    if old is not None and new is not None and old != new:
        body.lose("max_tokens")
    return old if new is None else new


def _read_stop(body: Members) -> tuple[str, ...]:
    given = body.take("stop")
    sequences = [given] if isinstance(given, str) else given or []
    if not isinstance(sequences, list) or not all(isinstance(text, str) for text in sequences):
        raise body.wrong("stop", "must be a string or a list of strings")
    return tuple(text for text in sequences if text)


def read_thinking(body: Members) -> Thinking:
    """An effort that OpenAI does not know is lost."""
    effort = body.string("reasoning_effort")
    if not effort:
        return Thinking()
    if effort == "none":
        return Thinking(off=True)
    if effort not in EFFORTS:
        body.lose("reasoning_effort")
        return Thinking()
    return Thinking(effort=effort)


def read_output(body: Members) -> OutputFormat | None:
    """``response_format``; ``None`` is text."""
    given = body.members("response_format")
    if given is None:
        return None
    match given.name("type"):
        case "text":
            output = None
        case "json_object":
            output = OutputFormat()
        case "json_schema":
            output = _read_schema(given)
        case _:  # a grammar or a template of some server's own
            body.lose("response_format")
            return None
    given.close()
    return output


def _read_schema(given: Members) -> OutputFormat:
    schema = given.members("json_schema")
    if schema is None:
        raise given.wrong("json_schema", "must be an object")
    output = OutputFormat(
        schema=schema.mapping("schema"),
        name=schema.string("name"),
        strict=schema.flag("strict"),
    )
    schema.close()
    return output


def write_sampling(sampling: Sampling) -> dict[str, Any]:
    """Members of the body, all but ``top_k``, which Chat has not."""
    return _said(
        max_completion_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        stop=list(sampling.stop) or None,
        seed=sampling.seed,
        frequency_penalty=sampling.frequency_penalty,
        presence_penalty=sampling.presence_penalty,
    )


def write_thinking(thinking: Thinking) -> dict[str, Any]:
    return _said(reasoning_effort=_effort(thinking))


def _effort(thinking: Thinking) -> str | None:
    budget = thinking.budget_tokens
    if thinking.off:
        return "none"
    if thinking.effort is not None or budget is None:
        return thinking.effort
    if budget < _LOW_BUDGET:
        return "low"
    return "medium" if budget < _MEDIUM_BUDGET else "high"


def write_output(output: OutputFormat | None) -> dict[str, Any]:
    if output is None:
        return {}
    if output.schema is None:
        return {"response_format": {"type": "json_object"}}
    schema = _said(schema=dict(output.schema), strict=output.strict)
    named = {"name": output.name or _OUTPUT_NAME, **schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _said(**members: JsonValue) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
