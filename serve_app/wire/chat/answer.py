"""Chat answers that the router gives itself: a decision's ``fast_response``, and errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import orjson

from serve_app.errors import TABLE, Code, RouterError, WireFormat
from serve_app.wire.chat.request import estimate_tokens

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class FastCompletion:
    """A completion of one message. ``created`` is in seconds of the epoch."""

    id: str
    created: int
    model: str
    text: str
    prompt_tokens: int

    def usage(self) -> dict[str, int]:
        completion = estimate_tokens([self.text])
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
        }

    def whole(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage()}

    async def stream(self, include_usage: bool) -> AsyncGenerator[bytes, None]:
        """Role, text, finish; then the usage with no choices, if asked for; then ``[DONE]``."""
        yield self._chunk({"role": "assistant", "content": ""}, None, include_usage)
        yield self._chunk({"content": self.text}, None, include_usage)
        yield self._chunk({}, "stop", include_usage)
        if include_usage:
            head = self._head("chat.completion.chunk")
            yield event({**head, "choices": [], "usage": self.usage()})
        yield DONE

    def _chunk(self, delta: dict[str, str], finish: str | None, include_usage: bool) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {**self._head("chat.completion.chunk"), "choices": [choice]}
        return event({**chunk, "usage": None} if include_usage else chunk)

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


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
    """A provider's error body as it is, or in Chat's format if it is in none (API-5)."""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        given = None
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
