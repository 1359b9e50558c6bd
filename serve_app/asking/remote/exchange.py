"""One HTTP exchange with a remote System One API, as the policy sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from models.questions.types import AnswerError, JsonValue


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """``body`` is ``None`` where it is no JSON; its numbers may be NaN or infinite.

    ``retry_after_s``: of ``retry-after-ms`` or ``Retry-After``, where given and sensible.
    ``posts``: how many times the body was posted for it.
    """

    status: int
    body: JsonValue = None
    retry_after_s: float | None = None
    posts: int = 1


class RemoteError(Exception):
    """There was no whole answer. ``reason``: ``DEADLINE_EXCEEDED`` or ``UNAVAILABLE``."""

    def __init__(self, reason: AnswerError, posts: int = 1) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.posts = posts


Send: TypeAlias = Callable[[dict[str, Any], float | None, bool], Awaitable[RemoteAnswer]]
"""Posts a body and waits at most so many seconds, ``None`` for ever. ``RemoteError``.

The last argument asks for a fresh connection. Without, a kept one may serve, and what is posted
over one that turns out to be closed is posted a second time."""
