"""The ``Response`` object around an answer's output (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from models.questions.types import JsonValue
from serve_app.wire.neutral.events import Failed, Stop, Used

Status: TypeAlias = Literal["in_progress", "completed", "incomplete", "failed"]

ID_PREFIX: Final = "resp_"

_REASONS: Final[Mapping[Stop, str | None]] = {
    Stop.LENGTH: "max_output_tokens",
    Stop.FILTER: "content_filter",
    Stop.PAUSE: None,
}
"""Why an answer is incomplete; of the others it is not."""

_ECHOED: Final[Mapping[str, JsonValue]] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "store": True,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "truncation": "disabled",
    "user": None,
}
"""What a response repeats of its request, and what it says where that says nothing."""

_ERROR_CODES: Final = frozenset(
    {
        *("server_error", "rate_limit_exceeded", "invalid_prompt", "invalid_image"),
        *("image_too_large", "invalid_image_url", "image_content_policy_violation"),
    }
)
"""Of the format's closed set, those that another provider can mean."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """``id`` begins with ``resp_``. ``created``: seconds since 1970, where the provider names no
    time. ``request``: the client's body, which ``read_request`` accepted."""

    id: str
    created: int
    request: Mapping[str, Any]

    @property
    def suffix(self) -> str:
        return self.id.removeprefix(ID_PREFIX)


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended: ``stop``, or ``failed`` where that is set."""

    stop: Stop = Stop.END
    failed: Failed | None = None

    @property
    def status(self) -> Literal["completed", "incomplete", "failed"]:
        if self.failed is not None:
            return "failed"
        return "incomplete" if self.stop in _REASONS else "completed"

    def members(self) -> dict[str, Any]:
        """``status``, ``error`` and ``incomplete_details`` of the response."""
        details = {"reason": _REASONS[self.stop]} if self.status == "incomplete" else None
        error = None if self.failed is None else _error(self.failed)
        return {"status": self.status, "error": error, "incomplete_details": details}


def response_head(envelope: Envelope, model: str, created: int | None) -> dict[str, Any]:
    """What of a response is known when it begins."""
    request = envelope.request
    given = {name: request.get(name) for name in _ECHOED}
    return {
        "id": envelope.id,
        "object": "response",
        "created_at": envelope.created if created is None else created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": model or request.get("model"),
        "output": [],
        "usage": None,
        **{name: _ECHOED[name] if given[name] is None else given[name] for name in _ECHOED},
    }


def usage(used: Used) -> dict[str, Any]:
    """The format has a number for each, so what is not known is none."""
    return {
        "input_tokens": used.input,
        "input_tokens_details": {
            "cached_tokens": used.cached or 0,
            "cache_write_tokens": used.written or 0,
        },
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning or 0},
        "total_tokens": used.input + used.output,
    }


def _error(failed: Failed) -> dict[str, Any]:
    """``type`` is the provider's own word where the format's codes do not have it."""
    kind = failed.kind
    if kind in _ERROR_CODES:
        return {"code": kind, "message": failed.message}
    limited = failed.status == 429 or (kind or "").startswith("rate_limit")
    code = "rate_limit_exceeded" if limited else "server_error"
    typed = {} if kind is None else {"type": kind}
    return {"code": code, "message": failed.message, **typed}
