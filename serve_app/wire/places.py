"""Where in a body something stands, and the refusal of what is wrong there (API-11)."""

from __future__ import annotations

from typing import Final, TypeAlias

from serve_app.errors import Code, RouterError

Loc: TypeAlias = tuple[str | int, ...]
"""The way to a member from the body: ``("messages", 2, "content")``."""

MAX_NAME: Final = 64
"""Characters of a client's own member name that are told back (S1-9)."""


def invalid(message: str, loc: Loc = ()) -> RouterError:
    """The refusal of a field; ``loc`` leads to it from the body."""
    return RouterError(Code.INVALID_REQUEST, message, loc=("body", *loc))


def path(loc: Loc) -> str:
    """``("messages", 0, "role")`` as ``messages[0].role``, the client's own names cut."""
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step[:MAX_NAME]}" if text else step[:MAX_NAME]
    return text
