"""An error that a provider tells of after it answered 200, read and written (API-3, API-5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.errors import Code, RouterError
from serve_app.wire.chat.answer import error_body
from serve_app.wire.neutral.events import Failed

_UNSAID: Final = "the provider's answer failed"
_KIND: Final = "server_error"
_OWN: Final = frozenset(Code)


def read_failure(body: Mapping[str, JsonValue], event: str | None = None) -> Failed | None:
    """``{"error": {message, type, code}}``, ``{"error": "message"}``, an event named ``error``,
    or the error itself as older servers send it (``{"object": "error", "message": …}``). ``None``
    for everything else."""
    error = body.get("error")
    if not error:
        if event != "error" and body.get("object") != "error":
            return None
        error = body
    if not isinstance(error, dict):
        return Failed(error if isinstance(error, str) else _UNSAID)
    message, kind, code = error.get("message"), error.get("type"), error.get("code")
    kinds = (word for word in (kind, code) if isinstance(word, str) and not word.isdigit())
    return Failed(
        message=message if isinstance(message, str) and message else _UNSAID,
        kind=next(kinds, None) or None,
        status=_status(code) or _status(error.get("status")),
    )


def _status(code: JsonValue) -> int | None:
    """vLLM and OpenRouter write the status as the code, some as its digits."""
    if isinstance(code, str) and len(code) == 3 and code.isascii() and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else None


def write_failure(failed: Failed) -> dict[str, Any]:
    """An error body of the format; its code is the router's own, or the status where that is
    known."""
    if failed.kind in _OWN:
        return error_body(RouterError(Code(failed.kind), failed.message))
    return {
        "error": {
            "message": failed.message,
            "type": failed.kind or _KIND,
            "param": None,
            "code": None if failed.status is None else str(failed.status),
        }
    }
