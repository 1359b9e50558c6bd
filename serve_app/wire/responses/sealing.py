"""Which provider's reasoning ``encrypted_content`` is (API-1).

A client sends reasoning back, and by then the router may have chosen another provider, which
refuses what it has not encrypted itself. So that of another format is sealed where it enters this
one, with the format that it is of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson

from models.questions.types import JsonValue
from serve_app.errors import WireFormat

_SEAL: Final = "sealed:"
"""Before ``[origin, signature, hidden]`` in ``encrypted_content``; base64, which others write, has
no colon."""


@dataclass(frozen=True, slots=True)
class ReasoningState:
    """The members of ``Reasoning`` that are of one provider. ``hidden`` of this format is
    ``<item id>:<encrypted content>``: some providers accept the content with the id of its own item
    alone."""

    signature: str | None = None
    hidden: str | None = None
    origin: WireFormat | None = None


@dataclass(frozen=True, slots=True)
class Encrypted:
    """``id``: of the item that it came in, ``""`` where none is known."""

    id: str
    content: str


def seal(state: ReasoningState) -> str | None:
    """``encrypted_content`` of reasoning for a Responses client."""
    if state.signature is None and state.hidden is None:
        return None
    return _SEAL + orjson.dumps([state.origin, state.signature, state.hidden]).decode()


def is_sealed(encrypted: JsonValue) -> bool:
    return isinstance(encrypted, str) and encrypted.startswith(_SEAL)


def unseal(encrypted: str, id: str) -> ReasoningState:
    """What ``encrypted_content`` of the item ``id`` is to other formats."""
    if not is_sealed(encrypted):
        hidden = f"{'' if ':' in id else id}:{encrypted}"
        return ReasoningState(hidden=hidden, origin=WireFormat.RESPONSES)
    try:
        origin, signature, hidden = orjson.loads(encrypted.removeprefix(_SEAL))
        of = None if origin is None else WireFormat(origin)
    except (orjson.JSONDecodeError, TypeError, ValueError):
        return ReasoningState()  # the client has changed it
    return ReasoningState(_text(signature), _text(hidden), of)


def encrypted_of(hidden: str | None, origin: WireFormat | None) -> Encrypted | None:
    """What goes back to a Responses provider; ``None`` of what another format's hid."""
    if hidden is None or origin is not WireFormat.RESPONSES:
        return None
    id, colon, content = hidden.partition(":")
    return Encrypted(id, content) if colon and content else None


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
