"""A call's arguments: text elsewhere, a JSON object in Messages (API-1)."""

from __future__ import annotations

import re
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.errors import RouterError
from serve_app.wire.body import json_bytes, parse_json, with_whole_integers

INVALID_JSON: Final = "INVALID_JSON"
"""The key of arguments that are no JSON object. Anthropic's own documentation wraps them so."""

_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_INSIDE: Final = re.compile(r'["\\]')


def to_input(arguments: str) -> dict[str, Any]:
    """The object that ``arguments`` is; blank is ``{}``, anything else ``{INVALID_JSON: …}``."""
    if not arguments.strip():
        return {}
    data = arguments.encode("utf-8", "replace")
    try:
        value = with_whole_integers(parse_json(data), data)
    except (RouterError, ValueError):  # no JSON, nested too deep, a number of too many digits
        value = None
    return value if isinstance(value, dict) else {INVALID_JSON: arguments}


def to_arguments(input: JsonValue) -> str:
    """The text of a block's ``input``; what ``to_input`` wrapped is unwrapped."""
    if isinstance(input, dict) and input.keys() == {INVALID_JSON}:
        wrapped = input[INVALID_JSON]
        if isinstance(wrapped, str):
            return wrapped
    return json_bytes(input).decode()


class ObjectScanner:
    """Whether the object that comes in pieces has come to its closing brace."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.complete = False

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text) and not self.complete:
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(text, at)
            if found is None:
                return
            at = found.end()
            self._read(found.group())

    def _read(self, mark: str) -> None:
        if mark == "\\":
            self._escaped = True
        elif mark == '"':
            self._in_string = not self._in_string
        else:
            self._depth += 1 if mark in "{[" else -1
            self.complete = self._depth <= 0
