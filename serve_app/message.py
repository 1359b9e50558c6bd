"""The neutral request: what the policy reads of a conversation, whatever its wire format.

The client's original stays with Ingress; a ``Message`` holds texts and counts alone, and
travels to the planner (SRV-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Modality(StrEnum):
    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    FILE = "file"


@dataclass(frozen=True)
class Turn:
    """One message as text: its parts joined by newlines, tool-call arguments included."""

    role: Role
    text: str


@dataclass(frozen=True)
class Counts:
    """How many messages of each role, tool definitions, tool calls and images there are."""

    system: int = 0
    user: int = 0
    assistant: int = 0
    tool: int = 0
    tool_definitions: int = 0
    tool_calls: int = 0
    images: int = 0


@dataclass(frozen=True)
class Message:
    """``text``: the latest user message, ``""`` without one. ``earlier``: the messages before
    it, oldest first, system text first (SIG-2). ``tool_results``: every tool result's text.
    ``images``: data URLs or URLs of the latest user message. ``tokens``: estimate of the whole
    prompt at 4 bytes a token (API-6). ``metadata``: the body's ``metadata``, string values,
    and ``header.<name>`` for request headers in lower case, credentials left out.
    """

    text: str
    earlier: tuple[Turn, ...] = ()
    tool_results: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    modalities: frozenset[Modality] = frozenset({Modality.TEXT})
    counts: Counts = Counts()
    tokens: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)
