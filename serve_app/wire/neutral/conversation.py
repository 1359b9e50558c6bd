"""A request for an answer, whatever format it came in (API-1).

Used only where the client's format is not the provider's: within one format bytes are relayed. A
reader names in ``Conversation.lost`` every field that it has no place for, a writer adds what its
format cannot carry; both by the client's own path (``messages[2].content[0].input_audio``), and a
value that says nothing (``null``, an empty list, a default of the format) is no loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from models.questions.types import JsonValue
from serve_app.errors import WireFormat


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """Either ``url`` (never a data URL), or base64 ``data`` of ``media_type``. ``detail``: OpenAI's
    ``low``, ``high``, ``auto``."""

    url: str | None = None
    data: str | None = None
    media_type: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A document. One of ``url``, base64 ``data`` of ``media_type``, plain ``text``, or ``id`` at
    the provider, which no other provider knows."""

    url: str | None = None
    data: str | None = None
    media_type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought. ``signature``: by which its provider knows it again; ``hidden``: the
    same encrypted, in that provider's own way. ``origin``: the format of the provider that made
    either, which no other takes; ``None`` where there is neither, or nobody knows."""

    text: str
    signature: str | None = None
    hidden: str | None = None
    origin: WireFormat | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """``arguments``: the JSON text as the model wrote it, which may be no JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    parts: tuple[Text | Image | File, ...]
    failed: bool = False


Part: TypeAlias = Text | Image | File | Reasoning | Refusal | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """Results of tools stand in turns of the user, calls in those of the assistant. A ``system``
    turn is one that stands between others; what opens the conversation is in ``system`` there."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """``parameters``: a JSON schema. ``strict``: calls must obey it."""

    name: str
    description: str | None = None
    parameters: Mapping[str, JsonValue] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """``name`` with ``tool`` alone. ``parallel``: more than one call at a time, ``None`` where the
    client does not say."""

    mode: Literal["auto", "none", "required", "tool"] | None = None
    name: str | None = None
    parallel: bool | None = None


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """JSON of ``schema``, or any JSON object where it is ``None``."""

    schema: Mapping[str, JsonValue] | None = None
    name: str | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """``effort``: OpenAI's word (``minimal`` to ``high``); ``budget_tokens``: Anthropic's number;
    ``off``: the client forbids it."""

    effort: str | None = None
    budget_tokens: int | None = None
    off: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """``model``: as the client named it. ``include_usage``: a stream ends with its usage, where the
    client's format makes that a choice. ``user``: the client's name for its own user."""

    model: str
    turns: tuple[Turn, ...]
    system: tuple[Text, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = ToolChoice()
    output: OutputFormat | None = None
    sampling: Sampling = Sampling()
    thinking: Thinking = Thinking()
    stream: bool = False
    include_usage: bool = True
    user: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A body for a provider, as ``json_bytes`` writes it. ``lost`` goes on from the conversation's
    own by places in the neutral form: ``seed``, ``turns[2].parts[0]``."""

    body: dict[str, Any]
    lost: tuple[str, ...] = ()
