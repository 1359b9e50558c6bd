"""A request beside its body."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from serve_app.errors import WireFormat


class Api(StrEnum):
    """The entrances that take a body."""

    CHAT = "/v1/chat/completions"
    SYSTEMONE = "/v1/systemone"
    PREVIEW = "/api/v1/routing/preview"

    @property
    def wire_format(self) -> WireFormat:
        return WireFormat.SYSTEMONE if self is Api.SYSTEMONE else WireFormat.CHAT


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request beside its body. ``deadline`` is on the event loop's clock."""

    id: str
    headers: Mapping[str, str]
    caller: str | None = None
    deadline: float | None = None

    def remaining_s(self) -> float | None:
        """Seconds left, at least 0; ``None`` without a deadline."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - asyncio.get_running_loop().time())
