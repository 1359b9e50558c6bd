"""How many requests are open, and when there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class OpenRequests:
    """What requests use is closed after the last of them (CFG-10)."""

    def __init__(self) -> None:
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """A request, from its beginning to its end."""
        self._open += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    async def ended(self) -> None:
        """Returns when none is open."""
        await self._idle.wait()
