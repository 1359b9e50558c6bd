"""A Chat body as the neutral request (SIG-2), and as what goes upstream (API-2).

Only what the router reads is checked; every other field passes through as the client wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.message import Message, Role
from serve_app.wire.body import json_bytes
from serve_app.wire.chat.content import read_content
from serve_app.wire.neutral.message import Said, length, message_of
from serve_app.wire.places import invalid

ROLES: Final[Mapping[str, Role]] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


def asks_for_usage(body: Mapping[str, Any]) -> bool:
    """Whether a stream is to end with its usage."""
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def read_message(body: Mapping[str, Any], headers: Mapping[str, str]) -> Message:
    """The conversation of a body that ``read_request`` accepted.

    ``headers``: those that rules read, in lower case and without credentials.
    """
    said = [_read(item, index) for index, item in enumerate(body["messages"])]
    return message_of(
        said,
        headers,
        metadata=body.get("metadata"),
        tool_definitions=length(body.get("tools")) + length(body.get("functions")),
    )


def upstream_body(body: Mapping[str, Any], model: str) -> bytes:
    """The client's body with the provider's own name of the model (API-2)."""
    return json_bytes({**body, "model": model})


def _read(item: JsonValue, index: int) -> Said:
    if not isinstance(item, dict):
        raise invalid("a message must be an object", ("messages", index))
    role = ROLES.get(item["role"]) if isinstance(item.get("role"), str) else None
    if role is None:
        raise invalid(f"role must be one of: {', '.join(ROLES)}", ("messages", index, "role"))
    return Said(role, read_content(item, ("messages", index)))
