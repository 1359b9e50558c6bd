"""How long the signals of one request may take (BUD-3)."""

from __future__ import annotations

from typing import Final

SERVED_WITHOUT_DEADLINE_S: Final = 45.0


def signal_deadline_s(configured_ms: int, request_s: float | None) -> float:
    """Seconds from now until the signals' deadline.

    ``configured_ms``: ``signal_timeout_ms``, within the request's own deadline; 0 derives it:
    the time left less a tenth of it, where that tenth is at least one second but at most half
    of the time left. ``request_s``: what is left of the request's own deadline, if it has one.
    """
    if request_s is None:
        return configured_ms / 1000 if configured_ms else SERVED_WITHOUT_DEADLINE_S
    left = max(0.0, request_s)
    if configured_ms:
        return min(configured_ms / 1000, left)
    return left - min(max(0.1 * left, 1.0), 0.5 * left)
