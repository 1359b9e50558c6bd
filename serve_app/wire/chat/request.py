"""A Chat body as the neutral request (SIG-2), and as what goes upstream (API-2).

Only what the router reads is checked; every other field passes through as the client wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.message import Counts, Message, Modality, Role, Turn
from serve_app.wire.body import json_bytes
from serve_app.wire.chat.content import Content, invalid, read_content

ROLES: Final[Mapping[str, Role]] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``body`` is the client's own; ``include_usage`` asks a stream for its usage chunk."""

    model: str
    stream: bool
    include_usage: bool
    body: dict[str, Any]


def read_request(body: JsonValue) -> ChatRequest:
    """The envelope. ``RouterError`` names the field that is wrong."""
    if not isinstance(body, dict):
        raise invalid("the body must be an object")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise invalid("model must be a name", ("model",))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages must be a list with at least one message", ("messages",))
    stream = body.get("stream")
    if stream is not None and not isinstance(stream, bool):
        raise invalid("stream must be true or false", ("stream",))
    options = body.get("stream_options")
    include_usage = isinstance(options, dict) and options.get("include_usage") is True
    return ChatRequest(model, stream is True, include_usage, body)


def read_message(body: Mapping[str, Any], headers: Mapping[str, str]) -> Message:
    """The conversation of a body that ``read_request`` accepted.

    ``headers``: those that rules read, in lower case and without credentials.
    """
    read = [_read(item, index) for index, item in enumerate(body["messages"])]
    latest = max((i for i, (role, _) in enumerate(read) if role is Role.USER), default=-1)
    before = read[:latest] if latest >= 0 else read
    turns = [Turn(role, content.text) for role, content in before if role is not Role.SYSTEM]
    system = [Turn(role, content.text) for role, content in read if role is Role.SYSTEM]
    users = [content for role, content in read if role is Role.USER]
    return Message(
        text=read[latest][1].text if latest >= 0 else "",
        earlier=(*system, *turns),
        tool_results=tuple(content.text for role, content in read if role is Role.TOOL),
        images=read[latest][1].images if latest >= 0 else (),
        modalities=frozenset[Modality]().union(*(content.modalities for content in users)),
        counts=_count(body, read),
        tokens=estimate_tokens(content.text for _, content in read),
        metadata=_metadata(body, headers),
    )


def message_of_text(text: str, headers: Mapping[str, str]) -> Message:
    """A conversation of one user message."""
    return Message(
        text=text,
        counts=Counts(user=1),
        tokens=estimate_tokens([text]),
        metadata=_metadata({}, headers),
    )


def upstream_body(body: Mapping[str, Any], model: str) -> bytes:
    """The client's body with the provider's own name of the model (API-2)."""
    return json_bytes({**body, "model": model})


def estimate_tokens(texts: Any) -> int:
    """4 bytes of UTF-8 a token, rounded up (API-6)."""
    size = sum(len(t) if t.isascii() else len(t.encode("utf-8", "surrogatepass")) for t in texts)
    return -(-size // 4)


def _read(item: JsonValue, index: int) -> tuple[Role, Content]:
    if not isinstance(item, dict):
        raise invalid("a message must be an object", ("messages", index))
    role = ROLES.get(item["role"]) if isinstance(item.get("role"), str) else None
    if role is None:
        raise invalid(f"role must be one of: {', '.join(ROLES)}", ("messages", index, "role"))
    return role, read_content(item, ("messages", index))


def _count(body: Mapping[str, Any], read: list[tuple[Role, Content]]) -> Counts:
    of_role = dict.fromkeys(Role, 0)
    for role, _ in read:
        of_role[role] += 1
    return Counts(
        system=of_role[Role.SYSTEM],
        user=of_role[Role.USER],
        assistant=of_role[Role.ASSISTANT],
        tool=of_role[Role.TOOL],
        tool_definitions=_length(body.get("tools")) + _length(body.get("functions")),
        tool_calls=sum(content.tool_calls for _, content in read),
        images=sum(len(content.images) for _, content in read),
    )


def _length(value: JsonValue) -> int:
    return len(value) if isinstance(value, list) else 0


def _metadata(body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, str]:
    given = body.get("metadata")
    members = given.items() if isinstance(given, dict) else ()
    metadata = {name: value for name, value in members if isinstance(value, str)}
    # Written last: a member of the body named like a header does not stand for one.
    metadata = {k: v for k, v in metadata.items() if not k.startswith("header.")}
    return metadata | {f"header.{name}": value for name, value in headers.items()}
