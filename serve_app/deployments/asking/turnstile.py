"""A burst of sends, spread over turns of the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

PER_TURN: Final = 4
"""Serve works for about a millisecond on each call it sends."""


class Turnstile:
    """Lets ``PER_TURN`` callers through in a turn, in their order.

    What is sent at once holds the loop for all of its work: the callers' timeouts and their
    clients' leaving would be seen after it, and by then all would be sent (BUD-2, BUD-4).
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._free = PER_TURN

    async def enter(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._free = loop, PER_TURN
            self._waiting.clear()
        if self._free == PER_TURN:
            loop.call_soon(self._turn)
        if self._free:
            self._free -= 1
            return
        place = loop.create_future()
        self._waiting.append(place)
        await place

    def _turn(self) -> None:
        self._free = PER_TURN
        while self._free and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                self._free -= 1
        if self._free < PER_TURN:
            asyncio.get_running_loop().call_soon(self._turn)
