"""The request stage under one policy."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Final

from serve_app.asking.call import Ask, Call, Reply
from serve_app.deployments.asking.remote_models import RemoteModels
from serve_app.deployments.rollout.open_requests import OpenRequests
from serve_app.flow import route
from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.recipe import CompiledRecipe
from serve_app.scan.speed import Speeds


class Decider:
    """``recipes``: by name. ``local``: asks the graph's own models, ``remote`` those of this policy
    alone; its connections are closed with the decider. ``speeds``: of both, the process's
    (SRV-20).
    """

    def __init__(
        self,
        version: str,
        recipes: Mapping[str, CompiledRecipe],
        local: Ask,
        remote: RemoteModels,
        speeds: Speeds,
    ) -> None:
        self._version: Final = version
        self._recipes = recipes
        self._local = local
        self._remote = remote
        self._open = OpenRequests()
        self._rng = random.Random()
        self._speeds = speeds

    async def decide(
        self, message: Message, recipe: str, remaining_s: float | None, *, explain: bool
    ) -> Outcome:
        """``remaining_s``: of the request's own deadline."""
        with self._open.one_more():
            return await route(
                message,
                self._recipes[recipe],
                ask=self._ask,
                clock=time.monotonic,
                rng=self._rng.random,
                speeds=self._speeds,
                deadline_s=remaining_s,
                config_version=self._version,
                explain=explain,
            )

    async def aclose(self) -> None:
        """Once the requests that began here have ended; no new one may come."""
        await self._open.ended()
        await self._remote.aclose()

    def forget(self) -> None:
        """The configuration has changed: no answer of a remote model is kept (CACHE-2)."""
        self._remote.forget()

    async def _ask(self, call: Call) -> Reply:
        if call.deployment in self._remote:
            return await self._remote.ask(call)
        return await self._local(call)
