"""Which headers may hold a secret: none of them is read by a rule or sent to a provider (API-7)."""

from __future__ import annotations

from typing import Final

_PARTS: Final = ("authorization", "cookie", "api-key", "token", "secret", "credential")


def is_credential(header: str) -> bool:
    """``header``: a header's name in lower case."""
    return any(part in header for part in _PARTS)


def is_readable(header: str) -> bool:
    """Whether a rule may read a client's ``header``, in lower case: no secret, no ``x-vsr-*``."""
    return not header.startswith("x-vsr-") and not is_credential(header)
