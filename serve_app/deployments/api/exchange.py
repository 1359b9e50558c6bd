"""A request beside its body."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from serve_app.errors import WireFormat

_PREFIXES: Final[Mapping[str, WireFormat]] = {
    "/v1/responses": WireFormat.RESPONSES,
    "/v1/messages": WireFormat.ANTHROPIC,
    "/v1/systemone": WireFormat.SYSTEMONE,
}


class Api(StrEnum):
    """The entrances that take a body."""

    CHAT = "/v1/chat/completions"
    RESPONSES = "/v1/responses"
    MESSAGES = "/v1/messages"
    COUNT_TOKENS = "/v1/messages/count_tokens"
    SYSTEMONE = "/v1/systemone"
    PREVIEW = "/api/v1/routing/preview"

    @property
    def wire_format(self) -> WireFormat:
        """Of its errors too."""
        return format_under(self)


def format_under(path: str) -> WireFormat:
    """Whose format an error under ``path`` has, where an entrance is or might be looked for: that
    of the entrance, or of what stands above it."""
    for prefix, wire_format in _PREFIXES.items():
        if path == prefix or path.startswith(f"{prefix}/"):
            return wire_format
    return WireFormat.CHAT


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
