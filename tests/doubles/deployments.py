"""Serve deployments that only tests bind."""

from __future__ import annotations

import os

from serve_app.deployments.decision_model import DecisionModel


class KillableModel(DecisionModel):
    """Tells its process, so that a test can kill it."""

    async def pid(self) -> int:
        return os.getpid()
