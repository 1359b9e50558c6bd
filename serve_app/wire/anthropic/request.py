"""A Messages body as the neutral request (SIG-2), and as what goes upstream (API-2).

Only what the router reads is checked; every other field passes through as the client wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.questions.types import JsonValue
from serve_app.message import Message, Role
from serve_app.wire.anthropic.content import read_blocks, read_turns
from serve_app.wire.anthropic.origin import is_foreign
from serve_app.wire.body import json_bytes
from serve_app.wire.envelope import Envelope, read_envelope
from serve_app.wire.neutral.message import Said, length, message_of
from serve_app.wire.places import invalid


def read_request(body: JsonValue) -> Envelope:
    """The envelope; to count tokens no ``max_tokens`` is needed, and ``read_envelope`` is enough.

    ``RouterError`` names the field that is wrong.
    """
    request = read_envelope(body)
    most = request.body.get("max_tokens")
    # 0 is allowed: it fills a provider's cache.
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise invalid("max_tokens must be a whole number", ("max_tokens",))
    return request


def read_message(body: Mapping[str, Any], headers: Mapping[str, str]) -> Message:
    """The conversation of a body that ``read_request`` accepted.

    ``headers``: those that rules read, in lower case and without credentials.
    """
    return message_of(
        read_said(body),
        headers,
        metadata=body.get("metadata"),
        tool_definitions=length(body.get("tools")),
    )


def read_said(body: Mapping[str, Any]) -> list[Said]:
    """Every turn, the top-level ``system`` first."""
    said = []
    if body.get("system") not in (None, "", []):
        content, results = read_blocks(body["system"], ("system",))
        said += [Said(Role.SYSTEM, content), *(Said(Role.TOOL, result) for result in results)]
    for index, item in enumerate(body["messages"]):
        said += read_turns(item, index)
    return said


def upstream_body(body: Mapping[str, Any], model: str) -> bytes:
    """The client's body with the provider's own name of the model (API-2), without the thinking of
    models behind other formats: a provider of Messages refuses a signature that is not its own.
    """
    messages = body["messages"]
    if any(_has_foreign(item) for item in messages):
        messages = [kept for item in messages if (kept := _without_foreign(item)) is not None]
    return json_bytes({**body, "model": model, "messages": messages})


def _has_foreign(item: JsonValue) -> bool:
    content = item.get("content") if isinstance(item, dict) else None
    return isinstance(content, list) and any(is_foreign(block) for block in content)


def _without_foreign(item: JsonValue) -> JsonValue:
    """``None`` for a message of nothing else: an empty one is refused."""
    if not _has_foreign(item):
        return item
    content = [block for block in item["content"] if not is_foreign(block)]
    return {**item, "content": content} if content else None
