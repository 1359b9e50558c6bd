"""Loads and drills are bounded in `make test` and whole in `make soak`."""

from __future__ import annotations

import os
from typing import Final

SOAK: Final = os.environ.get("SOAK") == "1"


def bounded(part: int, whole: int) -> int:
    """How many: ``part`` of the ``whole``, or all of them."""
    return whole if SOAK else part
