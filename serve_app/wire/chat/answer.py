"""Errors in Chat's format: the router's own, and those of providers (API-5, API-11)."""

from __future__ import annotations

from typing import Any

import orjson

from serve_app.errors import TABLE, Code, RouterError, WireFormat

DONE = b"data: [DONE]\n\n"


def event(data: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(data) + b"\n\n"


def error_body(error: RouterError) -> dict[str, Any]:
    """``{"error": {message, type, param, code}}``; ``param`` is the field that is wrong."""
    code = None if error.code is Code.INVALID_REQUEST else error.code.value
    return {
        "error": {
            "message": error.message,
            "type": TABLE[error.code][WireFormat.CHAT].type,
            "param": _param(error.loc),
            "code": code,
        }
    }


def provider_error(status: int, body: bytes) -> bytes:
    """A provider's error body as it is, or in Chat's format if it is in none or in Anthropic's
    (API-5)."""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        given = None
    error = given.get("error") if isinstance(given, dict) else None
    if isinstance(error, dict) and given.get("type") == "error":
        members = {name: error.get(name) for name in ("message", "type", "param", "code")}
        return orjson.dumps({"error": members})
    if isinstance(given, dict) and "error" in given:
        return body
    failure = RouterError(Code.PROVIDER_FAILED, f"the provider answered with status {status}")
    return orjson.dumps(error_body(failure))


def _param(loc: tuple[str | int, ...]) -> str | None:
    """``("body", "messages", 0, "role")`` as ``messages[0].role``."""
    path = ""
    for part in loc[1:]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path or None
