"""From a card and a placement to a loaded engine, inside the process that runs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Final, Protocol, cast

from models.cards.schema import Card
from models.engine import Engine
from models.golden import check_golden
from serve_app.config.schema.catalog import Placement

FAMILIES: Final = {"embedded": "models.embedded.loading"}
"""Family of a card -> the module of its engine: named and not imported, for it imports torch
(SRV-4)."""


class Family(Protocol):
    """What the module of a family offers (SRV-16)."""

    def load(self, card: Card, *, device: str, threads: int, dtype: str) -> Engine: ...


def load_engine(
    card: Card, placement: Placement, check: Callable[[Engine], None] = check_golden
) -> Engine:
    """The engine of ``card``, once ``check`` has let it pass.

    ``check`` asks golden questions and raises where an answer is off, which keeps the replica
    from becoming ready (SRV-11).
    """
    threads = placement.threads or _spare_processors()
    os.environ["OMP_NUM_THREADS"] = str(threads)  # Ray sets 1; it is read when torch is imported
    family = cast(Family, import_module(FAMILIES[card.family]))
    engine = family.load(card, device=placement.device, threads=threads, dtype=placement.dtype)
    check(engine)
    return engine


def _spare_processors() -> int:
    """One is left to the rest of the graph: threads of a forward wait for each other, and one
    that shares its processor holds up all. Short rows gain nothing beyond four.
    """
    return max(1, min(4, len(os.sched_getaffinity(0)) - 1))
