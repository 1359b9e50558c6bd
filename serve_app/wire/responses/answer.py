"""Errors that the router tells a client of Responses of in the midst of a stream (API-3)."""

from __future__ import annotations

import re
from typing import Final

import orjson

from serve_app.errors import RouterError
from serve_app.wire.chat.answer import error_body
from serve_app.wire.frames import frame

__all__ = ["error_body", "failure_event"]

_NUMBER: Final = re.compile(rb'"sequence_number"\s*:\s*(\d{1,15})')


def failure_event(error: RouterError, last: bytes) -> bytes:
    """The format's ``error`` event, numbered after the events of ``last``."""
    told = error_body(error)["error"]
    numbers = _NUMBER.findall(last)
    data = {
        "type": "error",
        "code": told["code"] or told["type"],
        "message": told["message"],
        "param": told["param"],
        "sequence_number": int(numbers[-1]) + 1 if numbers else 0,
    }
    return frame(orjson.dumps(data), "error")
