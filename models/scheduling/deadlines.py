"""Which calls ran out of time."""

from __future__ import annotations

import heapq
from itertools import count

from models.scheduling.work import Ticket


class Deadlines:
    """Open tickets by deadline. Answered ones stay in the heap, emptied, until they come up or
    outnumber the others: calls mostly end long before their deadline."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._open: dict[int, Ticket] = {}
        self._ids: dict[Ticket, int] = {}
        self._counter = count()

    def add(self, ticket: Ticket) -> None:
        if ticket.deadline is None:
            return
        number = next(self._counter)
        self._open[number] = ticket
        self._ids[ticket] = number
        heapq.heappush(self._heap, (ticket.deadline, number))

    def discard(self, ticket: Ticket) -> None:
        number = self._ids.pop(ticket, None)
        if number is None:
            return
        del self._open[number]
        if len(self._heap) > 64 + 2 * len(self._open):
            self._heap = [entry for entry in self._heap if entry[1] in self._open]
            heapq.heapify(self._heap)

    def expired(self, now: float) -> list[Ticket]:
        """Removes and returns the tickets whose deadline has come."""
        tickets = []
        while self._heap and self._heap[0][0] <= now:
            ticket = self._open.pop(heapq.heappop(self._heap)[1], None)
            if ticket is not None:
                del self._ids[ticket]
                tickets.append(ticket)
        return tickets

    def next(self) -> float | None:
        """The earliest deadline of an open ticket."""
        while self._heap and self._heap[0][1] not in self._open:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None
