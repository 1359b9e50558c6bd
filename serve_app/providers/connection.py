"""What became of the connection of one HTTP exchange, told by httpcore's trace extension."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx


class Connection:
    """Pass ``trace`` as a request's extension of that name.

    ``fresh``: the connection was opened for this exchange; a kept one may have been closed by the
    server just when it was used again. ``answered``: the response had begun. ``exchanges``: how
    many its user has begun.
    """

    def __init__(self) -> None:
        self.fresh = False
        self.answered = False
        self.exchanges = 0
        self._waited = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Refuses what is there without anything being read: it stood behind another request's
        answer, in the parser's buffer, and must not become the answer to this one. What stands
        before that ``network.Stream`` refuses. httpcore closes a connection whose trace raises.
        """
        if event == "connection.connect_tcp.started":
            self.fresh = True
        elif event.endswith("receive_response_headers.started"):
            self._waited = False
            asyncio.get_running_loop().call_soon(self._wait)
        elif event.endswith("receive_response_headers.complete"):
            if not self._waited:
                raise httpx.RemoteProtocolError("an answer that came before its request")
            self.answered = True

    def _wait(self) -> None:
        self._waited = True
