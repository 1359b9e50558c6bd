"""Serve deployments that only tests bind."""

from __future__ import annotations

import os

from serve_app.deployments.decision_model import DecisionModel
from tests.doubles.engines import Entered, RecordingEngine


class KillableModel(DecisionModel):
    """Tells its process, so that a test can kill it."""

    async def pid(self) -> int:
        return os.getpid()


class RecordedModel(KillableModel):
    """Tells what its ``RecordingEngine`` computed, the forward that runs included."""

    async def entered(self) -> list[Entered]:
        return list(RecordingEngine.entered)
