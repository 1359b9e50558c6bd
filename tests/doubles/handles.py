"""A Serve handle that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

SILENCE = object()
"""An outcome that never comes."""


class ScriptedResponse:
    def __init__(self, outcome: object) -> None:
        self._outcome = outcome
        self.cancelled = False

    def __await__(self) -> Generator[Any, None, object]:
        if self._outcome is SILENCE:
            yield from asyncio.get_running_loop().create_future()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def cancel(self) -> None:
        self.cancelled = True


class ScriptedHandle:
    """Answers its calls with ``outcomes`` in order; ``ready``: a replica has run."""

    def __init__(self, *outcomes: object, ready: bool = True) -> None:
        self._outcomes = list(outcomes)
        self.ready = ready
        self.calls: list[Any] = []
        self.responses: list[ScriptedResponse] = []

    def options(self, **_: object) -> ScriptedHandle:
        return self

    def remote(self, call: Any = None) -> ScriptedResponse:
        self.calls.append(call)
        self.responses.append(ScriptedResponse(self._outcomes.pop(0)))
        return self.responses[-1]

    def running_replicas_populated(self) -> bool:
        return self.ready
