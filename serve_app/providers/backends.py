"""Which backend of a model is tried first (API-5)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from serve_app.config.schema.providers import Backend


def order(backends: Sequence[Backend], rng: Random) -> list[int]:
    """Indices, drawn by weight without putting back: the first is a weighted choice, and so is
    each next one among those left.
    """
    left = list(range(len(backends)))
    drawn = []
    while len(left) > 1:
        (index,) = rng.choices(left, [backends[i].weight for i in left])
        left.remove(index)
        drawn.append(index)
    return drawn + left
