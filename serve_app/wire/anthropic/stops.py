"""Why an answer ended, and what went wrong, in the words of Messages (API-1, API-11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from serve_app.wire.neutral.events import Stop

_STOPS: Final[Mapping[str, Stop]] = {
    "end_turn": Stop.END,
    "max_tokens": Stop.LENGTH,
    "stop_sequence": Stop.SEQUENCE,
    "tool_use": Stop.TOOLS,
    "pause_turn": Stop.PAUSE,
    "refusal": Stop.FILTER,
    "model_context_window_exceeded": Stop.LENGTH,
}

_REASONS: Final[Mapping[Stop, str]] = {
    Stop.END: "end_turn",
    Stop.LENGTH: "max_tokens",
    Stop.TOOLS: "tool_use",
    Stop.SEQUENCE: "stop_sequence",
    Stop.FILTER: "refusal",
    Stop.PAUSE: "pause_turn",
}

_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}

_TYPES: Final = {status: type for type, status in _STATUSES.items()}


def stop_of(reason: str) -> Stop:
    """A reason of tomorrow is an end."""
    return _STOPS.get(reason, Stop.END)


def stop_reason(stop: Stop, *, called: bool, refused: bool) -> str:
    """``called``, ``refused``: the answer holds calls, or a refusal in words. Other formats end
    such answers as any other, but clients of Messages go by the reason alone.
    """
    if stop is Stop.END and called:
        return _REASONS[Stop.TOOLS]
    if stop is Stop.END and refused:
        return _REASONS[Stop.FILTER]
    return _REASONS[stop]


def status_of(error_type: str) -> int | None:
    return _STATUSES.get(error_type)


def error_type(status: int | None, given: str | None = None) -> str:
    """``given`` where it is a type of Messages, else that of the status."""
    if given is not None and given in _STATUSES:
        return given
    if status is None or status >= 500:
        return _TYPES.get(status or 500, "api_error")
    return _TYPES.get(status, "invalid_request_error")
