"""A failure as a response of the client's own format (API-1, API-11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, Final

import orjson

from serve_app.errors import TABLE, Code, RouterError, WireFormat
from serve_app.wire import systemone
from serve_app.wire.answer import JSON, WireAnswer
from serve_app.wire.anthropic import answer as anthropic
from serve_app.wire.chat import answer as chat
from serve_app.wire.responses import answer as responses

MAX_RETRY_AFTER_S: Final = 60.0
DEFAULT_RETRY_AFTER_S: Final = 1.0

_RETRYABLE: Final = frozenset({Code.OVERLOADED, Code.NOT_READY})
_BODY: Final[Mapping[WireFormat, Callable[[RouterError], dict[str, Any]]]] = {
    WireFormat.CHAT: chat.error_body,
    WireFormat.RESPONSES: responses.error_body,
    WireFormat.ANTHROPIC: anthropic.error_body,
    WireFormat.SYSTEMONE: systemone.error_body,
}


def error_answer(error: RouterError, wire_format: WireFormat) -> WireAnswer:
    """Status, body and headers. What a client may ask again says when (S1-9, OVL-10)."""
    headers = {"content-type": JSON}
    if error.code in _RETRYABLE:
        headers |= retry_headers(error.retry_after_s)
    if error.code is Code.INVALID_API_KEY:
        headers["www-authenticate"] = "Bearer"
    body = orjson.dumps(_BODY[wire_format](error))
    return WireAnswer(TABLE[error.code][wire_format].status, body, headers)


def retry_headers(seconds: float | None) -> dict[str, str]:
    """``retry-after`` in whole seconds from 1 to 60, ``retry-after-ms`` as exact as it is known."""
    wait = min(MAX_RETRY_AFTER_S, seconds or DEFAULT_RETRY_AFTER_S)
    return {"retry-after": str(max(1, ceil(wait))), "retry-after-ms": str(max(1, ceil(wait * 1e3)))}
