"""Which format a body is of, where no path tells (API-9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.errors import WireFormat

CONVERSATIONS: Final = frozenset({"messages", "input", "prompt"})
"""Members in one of which a conversation stands, in whatever format."""

_OF_MESSAGES: Final = frozenset(
    {"system", "stop_sequences", "thinking", "mcp_servers", "anthropic_version", "anthropic_beta"}
)
"""Members of Messages' bodies alone."""

_BLOCKS: Final = frozenset(
    {
        *("image", "document", "search_result", "thinking", "redacted_thinking"),
        *("tool_use", "tool_result", "server_tool_use", "container_upload"),
    }
)
"""Types of blocks in Messages' content alone."""


def format_of(body: JsonValue, headers: Mapping[str, str]) -> WireFormat:
    """Chat and Messages look alike until a word is of one alone; with none they say the same."""
    if not isinstance(body, dict):
        return WireFormat.CHAT
    if "messages" not in body and CONVERSATIONS & body.keys():
        return WireFormat.RESPONSES
    if "anthropic-version" in headers or _is_of_messages(body):
        return WireFormat.ANTHROPIC
    return WireFormat.CHAT


def _is_of_messages(body: Mapping[str, Any]) -> bool:
    if _OF_MESSAGES & body.keys():
        return True
    if any("input_schema" in tool for tool in _objects(body.get("tools"))):
        return True
    return any(
        isinstance(kind := block.get("type"), str) and kind in _BLOCKS
        for message in _objects(body.get("messages"))
        for block in _objects(message.get("content"))
    )


def _objects(value: JsonValue) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
