"""What the router itself says to clients of Messages: errors, and counts of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from models.questions.types import JsonValue
from serve_app.errors import TABLE, Code, RouterError, WireFormat
from serve_app.wire.anthropic.request import read_said
from serve_app.wire.anthropic.stops import error_type
from serve_app.wire.body import json_bytes
from serve_app.wire.neutral.events import Failed
from serve_app.wire.neutral.message import estimate_tokens


def count_body(body: Mapping[str, Any]) -> dict[str, int]:
    """The answer to ``/v1/messages/count_tokens``: an estimate at 4 bytes a token of every text,
    call and result, and of the definitions of tools as JSON (API-6). Images are not counted.
    """
    texts = [content.text for _, content in read_said(body)]
    tools = body.get("tools")
    if tools:
        texts.append(json_bytes(tools).decode())
    return {"input_tokens": estimate_tokens(texts)}


def error_body(error: RouterError, request_id: str | None = None) -> dict[str, Any]:
    """``{"type": "error", "error": {type, message}, "request_id"?}``. The message begins with the
    field that is wrong, as Anthropic's do: the format has no other place for it.
    """
    message = f"{_place(error.loc)}{error.message}"
    if error.code is Code.CONTEXT_LENGTH_EXCEEDED:
        message = f"{error.code.value}: {message}"
    body = _error(TABLE[error.code][WireFormat.ANTHROPIC].type, message)
    return body if request_id is None else {**body, "request_id": request_id}


def failure_body(failed: Failed) -> dict[str, Any]:
    """What a provider told of after it had answered 200, as an error of the format."""
    return _error(error_type(failed.status, failed.kind), failed.message)


def provider_error(status: int, body: bytes) -> bytes:
    """A provider's error body as it is, or in the format of Messages if it is not (API-5)."""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        given = None
    if _is_error(given):
        return body
    message = _message(given) or f"the provider answered with status {status}"
    return orjson.dumps(_error(error_type(status), message))


def _error(type: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type, "message": message}}


def _is_error(given: JsonValue) -> bool:
    if not isinstance(given, dict) or given.get("type") != "error":
        return False
    error = given.get("error")
    return isinstance(error, dict) and isinstance(error.get("type"), str)


def _message(given: JsonValue) -> str:
    """What other formats say in words: ``{"error": {"message"}}``, ``{"error"}``, ``{"message"}``,
    ``{"detail"}``; ``""`` where there is none.
    """
    while isinstance(given, dict):
        names = [name for name in ("error", "message", "detail") if given.get(name)]
        given = given[names[0]] if names else ""
    return given if isinstance(given, str) else ""


def _place(loc: tuple[str | int, ...]) -> str:
    """``("body", "messages", 0, "role")`` as ``messages.0.role: ``."""
    path = ".".join(str(part) for part in loc[1:])
    return f"{path}: " if path else ""
