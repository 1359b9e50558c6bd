"""Filling a forward with rows of one length bucket (SRV-6)."""

from __future__ import annotations

import heapq
from typing import Final

from models.scheduling.settings import Budget
from models.scheduling.work import Item, Phase

LOOKAHEAD: Final = 8
"""Rows that do not fit and are passed over before a forward counts as full."""

Entry = tuple[float, int, Item]
"""Expected finish, a number that tells ties apart, item."""


def pack(head: Item, bucket: list[Entry], budget: Budget) -> list[Item]:
    """``head`` and what fits beside it from its ``bucket``, a heap, earliest finish first.

    Taken items are ``RUNNING`` and leave the heap, as do those that are gone.
    """
    head.phase = Phase.RUNNING
    packed, tokens, passed = [head], head.cost, list[Entry]()
    while bucket and len(packed) < budget.rows and len(passed) < LOOKAHEAD:
        if tokens >= budget.tokens:
            break
        entry = heapq.heappop(bucket)
        item = entry[2]
        if item.phase is not Phase.WAITING:
            continue
        if tokens + item.cost > budget.tokens:
            passed.append(entry)
            continue
        item.phase = Phase.RUNNING
        packed.append(item)
        tokens += item.cost
    for entry in passed:
        heapq.heappush(bucket, entry)
    return packed
