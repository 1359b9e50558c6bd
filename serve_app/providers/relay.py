"""A provider's stream on its way to the client (API-3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx

from serve_app.providers.answers import StreamBrokenError


class Relay:
    """``first`` and then ``chunks``. ``ended`` is told once how it ended: ``ok``, ``broken`` or
    ``cancelled``. No generator: closing one that was never begun would leave the call open.
    """

    def __init__(
        self,
        response: httpx.Response,
        first: bytes,
        chunks: AsyncIterator[bytes],
        ended: Callable[[str], None],
    ) -> None:
        self._response = response
        self._first = first
        self._chunks = chunks
        self._ended: Callable[[str], None] | None = ended

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        try:
            return await anext(self._chunks)
        except StopAsyncIteration:
            self._end("ok")
            raise
        except (httpx.TransportError, httpx.DecodingError) as error:
            self._end("broken")
            raise StreamBrokenError("the provider broke off") from error

    async def aclose(self) -> None:
        self._end("cancelled")
        await self._response.aclose()

    def _end(self, outcome: str) -> None:
        if self._ended is not None:
            self._ended(outcome)
            self._ended = None
