"""The numbers of a replica's scheduling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_CACHED_ANSWERS: Final = 4096
"""CACHE-1."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one forward may hold (SRV-6).

    ``tokens``: padded tokens; a CPU gains nothing from more than about 2,048 in a forward. A row
    above it goes alone. ``rows``: a second limit, for engines with one of their own.
    """

    tokens: int = 2048
    rows: int = 256


@dataclass(frozen=True, slots=True)
class Settings:
    """``max_calls`` and ``max_queue_s`` bound what waits or runs, in calls and in predicted
    seconds (SRV-8). ``patience_s``: how long younger work may pass an item (SRV-6).
    ``cached_answers``: 0 switches the result cache off (CACHE-1).
    """

    budget: Budget = Budget()
    max_calls: int = 256
    max_queue_s: float = 10.0
    patience_s: float = 2.0
    cached_answers: int = DEFAULT_CACHED_ANSWERS
