"""The closed set of request failures, and what each is on every wire (API-11).

``RouterError`` carries a ``Code``; ``TABLE`` gives its HTTP status and error type per format.
Answer-level failures are ``models.questions.types.AnswerError``: they stand beside good answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class WireFormat(StrEnum):
    CHAT = "chat"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    SYSTEMONE = "systemone"


class Code(StrEnum):
    INVALID_REQUEST = "invalid_request"
    INVALID_API_KEY = "invalid_api_key"
    MODEL_NOT_FOUND = "model_not_found"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TOO_LARGE = "request_too_large"
    TOO_DEEP = "too_deep"
    CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded"
    NO_DECISION = "no_decision"
    OVERLOADED = "overloaded"
    NOT_READY = "not_ready"
    GUARD_UNAVAILABLE = "guard_unavailable"
    CONTENT_BLOCKED = "content_blocked"
    PROVIDER_FAILED = "provider_failed"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    INTERNAL = "internal_error"


@dataclass(frozen=True, slots=True)
class WireError:
    """``status``, and the format's own error type."""

    status: int
    type: str


_CHAT = WireFormat.CHAT
_MESSAGES = WireFormat.ANTHROPIC
_S1 = WireFormat.SYSTEMONE
_BAD = "invalid_request_error"

_COLUMNS: Final[Mapping[Code, Mapping[WireFormat, WireError]]] = {
    Code.INVALID_REQUEST: {
        _CHAT: WireError(400, _BAD),
        _MESSAGES: WireError(400, _BAD),
        _S1: WireError(422, "validation_error"),
    },
    Code.INVALID_API_KEY: {
        _CHAT: WireError(401, _BAD),
        _MESSAGES: WireError(401, "authentication_error"),
        _S1: WireError(401, "authentication_error"),
    },
    Code.MODEL_NOT_FOUND: {
        _CHAT: WireError(404, _BAD),
        _MESSAGES: WireError(404, "not_found_error"),
        _S1: WireError(400, "api_usage_error"),
    },
    Code.NOT_FOUND: {
        _CHAT: WireError(404, _BAD),
        _MESSAGES: WireError(404, "not_found_error"),
        _S1: WireError(404, "not_found_error"),
    },
    Code.METHOD_NOT_ALLOWED: {
        _CHAT: WireError(405, _BAD),
        _MESSAGES: WireError(405, _BAD),
        _S1: WireError(405, "api_usage_error"),
    },
    Code.REQUEST_TOO_LARGE: {
        _CHAT: WireError(413, _BAD),
        _MESSAGES: WireError(413, "request_too_large"),
        _S1: WireError(413, "request_too_large"),
    },
    Code.TOO_DEEP: {
        _CHAT: WireError(400, _BAD),
        _MESSAGES: WireError(400, _BAD),
        _S1: WireError(422, "validation_error"),
    },
    Code.CONTEXT_LENGTH_EXCEEDED: {
        _CHAT: WireError(400, _BAD),
        _MESSAGES: WireError(400, _BAD),
        _S1: WireError(413, "request_too_large"),
    },
    Code.NO_DECISION: {
        _CHAT: WireError(404, _BAD),
        _MESSAGES: WireError(404, "not_found_error"),
        _S1: WireError(400, "api_usage_error"),
    },
    Code.OVERLOADED: {
        _CHAT: WireError(429, "rate_limit_error"),
        _MESSAGES: WireError(529, "overloaded_error"),
        _S1: WireError(529, "overloaded_error"),
    },
    Code.NOT_READY: {
        _CHAT: WireError(503, "server_error"),
        _MESSAGES: WireError(503, "api_error"),
        _S1: WireError(503, "not_ready_error"),
    },
    Code.GUARD_UNAVAILABLE: {
        _CHAT: WireError(503, "server_error"),
        _MESSAGES: WireError(503, "api_error"),
        _S1: WireError(503, "api_error"),
    },
    Code.CONTENT_BLOCKED: {
        _CHAT: WireError(403, _BAD),
        _MESSAGES: WireError(403, "permission_error"),
        _S1: WireError(403, "permission_error"),
    },
    Code.PROVIDER_FAILED: {
        _CHAT: WireError(502, "server_error"),
        _MESSAGES: WireError(502, "api_error"),
        _S1: WireError(502, "api_error"),
    },
    Code.DEADLINE_EXCEEDED: {
        _CHAT: WireError(504, "server_error"),
        _MESSAGES: WireError(504, "timeout_error"),
        _S1: WireError(504, "timeout_error"),
    },
    Code.INTERNAL: {
        _CHAT: WireError(500, "server_error"),
        _MESSAGES: WireError(500, "api_error"),
        _S1: WireError(500, "api_error"),
    },
}

TABLE: Final[Mapping[Code, Mapping[WireFormat, WireError]]] = {
    code: {**formats, WireFormat.RESPONSES: formats[_CHAT]} for code, formats in _COLUMNS.items()
}


class RouterError(Exception):
    """A request that ends in an error.

    ``message`` is for the client and echoes at most 64 characters of its input (S1-9);
    ``loc`` names the place in the body, from ``"body"``; ``retry_after_s`` is set on overload.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        loc: tuple[str | int, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.loc = loc
        self.retry_after_s = retry_after_s
