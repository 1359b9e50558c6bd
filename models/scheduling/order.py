"""Who is computed next: the earliest expected finish, and nobody is passed for long (SRV-6).

Expected means: if the model were shared evenly by the calls that are open. ``_share`` is the
work, in padded tokens, that each of them could have had so far; a forward of 2,048 tokens while
4 calls are open adds 512. A row starts when the share has grown by the cost of its call's rows
before it, counted from when it came, and must be finished when it has grown by twice the row's
own cost more: twice, so that a row that is served in time is in no hurry before the last moment.
So a short question passes the windows of a scan, be they one call or many and however far the
queue is behind, and a judge with 4,096 entries leaves room between them. The measured speed
would multiply all of this alike.

A forward *overtakes* a call that waits if it is formed for a row of a later call and computes
none of its rows. Once that took ``patience_s`` in all since a row of the call was last computed,
the call's first waiting row is next, whatever its finish. Rows that ride along in a forward
formed for another take no turn from anyone.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Final

from models.scheduling.packing import Entry, pack
from models.scheduling.settings import Budget
from models.scheduling.work import Item, Phase, Ticket

SLACK: Final = 2


class Line:
    """Items that wait for a forward. Those that are gone leave when they come up."""

    def __init__(self, budget: Budget, patience_s: float) -> None:
        self._budget = budget
        self._patience_s = patience_s
        self._buckets: dict[int, list[Entry]] = {}
        self._calls: dict[Ticket, deque[Item]] = {}
        self._due: deque[Ticket] = deque()
        self._share = 0.0
        self._counter = count()

    def push(self, item: Item, bucket: int) -> None:
        call = item.opener
        start = max(call.next_start, self._share)
        call.next_start = start + item.cost
        item.phase = Phase.WAITING
        self._calls.setdefault(call, deque()).append(item)
        entry = (start + SLACK * item.cost, next(self._counter), item)
        heapq.heappush(self._buckets.setdefault(bucket, []), entry)

    def take(self) -> list[Item]:
        """Removes the rows of the next forward, the one it is formed for first."""
        item = self._first_due()
        if item is not None and item.prepared is not None:
            return pack(item, self._buckets[item.prepared.bucket], self._budget)
        waiting = [heap for heap in self._buckets.values() if _sweep(heap)]
        if not waiting:
            self._buckets.clear()
            self._calls.clear()
            return []
        heap = min(waiting, key=lambda heap: heap[0][:2])
        return pack(heap[0][2], heap, self._budget)

    def ran(self, items: Sequence[Item], seconds: float, open_calls: int) -> None:
        """The forward of ``items`` took ``seconds`` while ``open_calls`` shared the model."""
        self._share += sum([item.cost for item in items]) / max(1, open_calls)
        for item in items:
            item.opener.overtaken_s = 0.0
        served = {item.opener for item in items}
        done = []
        for call in self._calls:
            if self._first_waiting(call) is None:
                done.append(call)
            elif call not in served:
                in_time = call.overtaken_s < self._patience_s
                call.overtaken_s += seconds
                if in_time and call.overtaken_s >= self._patience_s:
                    self._due.append(call)
            if call is items[0].opener:
                break
        for call in done:
            del self._calls[call]

    def _first_due(self) -> Item | None:
        while self._due:
            item = self._first_waiting(self._due[0])
            if item is not None and self._due[0].overtaken_s >= self._patience_s:
                return item
            self._due.popleft()
        return None

    def _first_waiting(self, call: Ticket) -> Item | None:
        rows = self._calls.get(call, ())
        while rows and rows[0].phase is not Phase.WAITING:
            rows.popleft()
        return rows[0] if rows else None


def _sweep(heap: list[Entry]) -> list[Entry]:
    while heap and heap[0][2].phase is not Phase.WAITING:
        heapq.heappop(heap)
    return heap
