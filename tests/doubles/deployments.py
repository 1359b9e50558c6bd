"""Serve deployments that only tests bind."""

from __future__ import annotations

import os
import time
from typing import Any

from models.scheduling.work import Forward
from serve_app.deployments.decision_model import DecisionModel
from tests.doubles.engines import Entered, RecordingEngine


class KillableModel(DecisionModel):
    """Tells its process, so that a test can kill it."""

    async def pid(self) -> int:
        return os.getpid()


class RecordedModel(KillableModel):
    """Tells what its ``RecordingEngine`` computed, the forward that runs included, and when each
    forward was put together."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._formed: list[Entered] = []
        scheduler = self._runner._scheduler
        put_together = scheduler.next_forward

        def next_forward(now: float) -> Forward | None:
            forward = put_together(now)
            if forward is not None:
                states = tuple(item.row.state for item in forward.items)
                self._formed.append(Entered(time.monotonic(), states))
            return forward

        scheduler.next_forward = next_forward  # type: ignore[method-assign]

    async def entered(self) -> list[Entered]:
        return list(RecordingEngine.entered)

    async def formed(self) -> list[Entered]:
        return list(self._formed)
