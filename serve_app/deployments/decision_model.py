"""One decision model on one replica (SRV-5 to SRV-9).

Serve brings calls and takes replies; everything between is ``models.scheduling``.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable
from dataclasses import asdict
from time import monotonic
from typing import Final

from ray import serve

from models.engine import Engine, ModelDescription, describe
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from models.scheduling.runner import Arrival, Pending, Runner
from models.scheduling.settings import Settings
from models.scheduling.stats import ReplicaStats
from serve_app.deployments.placement.model_spec import ModelSpec
from serve_app.deployments.process.replica import prepare_replica
from serve_app.telemetry.metrics import ModelTotals

PUBLISH_EVERY_S: Final = 1.0


class DecisionModel:
    """``load`` runs here, in the replica, and returns an engine that answered its golden
    questions; an error of it keeps the replica from becoming ready (SRV-11).
    """

    def __init__(
        self,
        load: Callable[[], Engine],
        settings: Settings | None = None,
        stuck_after_s: float = 30.0,
        name: str = "primary",
    ) -> None:
        prepare_replica()
        engine = load()
        self._description = describe(engine)
        self._runner = Runner(engine, settings, stuck_after_s=stuck_after_s)
        self._totals = ModelTotals(name)
        self._published_at = -math.inf

    async def answer(self, call: ModelCall) -> ModelReply | Refusal:
        """Answers a call; a caller that is cancelled takes its rows out of the queue.

        While a forward runs, calls are collected. One that finds the model idle is not: the
        collector takes longer than all of a lone call's wait may (0.3 ms, SRV-5).
        """
        arrival = self._runner.arrival(call)
        try:
            if self._runner.idle:
                (taken,) = self._runner.submit([arrival])
            else:
                taken = await self._collect(arrival)
            self._publish()
            return taken if isinstance(taken, Refusal) else await taken
        except asyncio.CancelledError:
            self._runner.cancel(arrival)
            raise

    @serve.batch(max_batch_size=256, batch_wait_timeout_s=0)
    async def _collect(self, arrivals: list[Arrival]) -> list[Pending | Refusal]:
        """The arrivals of one turn of the loop enter the queue together and this returns at
        once. A batch that waited for its answers would freeze those behind it (SRV-5)."""
        return self._runner.submit(arrivals)

    async def check_health(self) -> None:
        """Raises while the model thread makes no progress; Serve then replaces the replica."""
        self._publish(now=True)
        reason = self._runner.stuck()
        if reason is not None:
            raise RuntimeError(reason)

    async def describe(self) -> ModelDescription:
        """Which model this is, and the device, number format and threads it took (SRV-13)."""
        return self._description

    async def stats(self) -> ReplicaStats:
        return self._runner.stats()

    def _publish(self, *, now: bool = False) -> None:
        """The replica's totals as metrics, once a second under load (API-12)."""
        time = monotonic()
        if now or time - self._published_at >= PUBLISH_EVERY_S:
            self._published_at = time
            stats = self._runner.stats()
            self._totals.publish(
                asdict(stats.counts), open_calls=stats.open_calls, queued_s=stats.queued_s
            )


class PlacedModel(DecisionModel):
    """``name``: of the deployment in the catalog. ``load`` replaces the engine."""

    def __init__(self, name: str, load: Callable[[], Engine] | None = None) -> None:
        spec = ModelSpec.of_process(os.environ)
        super().__init__(load or spec.load, spec.settings(os.environ), name=name)
