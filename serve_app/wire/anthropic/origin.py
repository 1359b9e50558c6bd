"""Whose thinking it is: a client returns it unchanged, and its next request may go elsewhere.

A provider refuses a whole request for one signature, or one piece of encrypted thinking, that is
not its own. So what is not Messages' own says so in a Messages client's hands, and whose it is.
"""

from __future__ import annotations

from typing import Final

from models.questions.types import JsonValue
from serve_app.errors import WireFormat

_FOREIGN: Final = "foreign."
"""Before ``<origin>.<value>`` of a signature or of data that no provider of Messages made, and
alone in place of a signature; theirs are base64, which has no full stop."""


def write_opaque(value: str | None, origin: WireFormat | None) -> str:
    """A signature, or a block's ``data``, for a client."""
    if value is None:
        return _FOREIGN
    return value if origin is WireFormat.ANTHROPIC else f"{_FOREIGN}{origin or ''}.{value}"


def read_opaque(given: str) -> tuple[str | None, WireFormat | None]:
    """As its provider gave it, and that provider's format; ``None`` where there is nothing, or the
    client has changed it."""
    if not given.startswith(_FOREIGN):
        return (given, WireFormat.ANTHROPIC) if given else (None, None)
    origin, _, value = given.removeprefix(_FOREIGN).partition(".")
    if not value or (origin and origin not in set(WireFormat)):
        return None, None
    return value, WireFormat(origin) if origin else None


def is_foreign(block: JsonValue) -> bool:
    """Whether no provider of Messages made this block of thinking."""
    if not isinstance(block, dict) or block.get("type") not in ("thinking", "redacted_thinking"):
        return False
    opaque = block.get("signature" if block["type"] == "thinking" else "data")
    return isinstance(opaque, str) and opaque.startswith(_FOREIGN)
