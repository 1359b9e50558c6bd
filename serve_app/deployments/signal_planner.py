"""The request stage as a Serve deployment: the policy, given its effects (SRV-1)."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ray.serve.handle import DeploymentHandle

from serve_app.deployments.asking import ServeAsk
from serve_app.deployments.policy import Policy, Versions
from serve_app.deployments.process import prepare_replica
from serve_app.errors import Code
from serve_app.flow import route
from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.recipe import CompiledRecipe, compile_recipe


@dataclass(frozen=True)
class PlanCall:
    """One request for the planner. ``remaining_s``: until the request's own deadline, measured
    when it was sent. ``version``: of the configuration it is decided by. ``explain``: with every
    decision's tree (API-9).
    """

    message: Message
    recipe: str
    version: str
    remaining_s: float | None = None
    explain: bool = False


@dataclass(frozen=True)
class NotPlanned:
    """The planner has no configuration of that version (any more, or yet)."""

    code: Code = Code.NOT_READY


class SignalPlanner:
    """Decides requests by compiled recipes; ``models`` are the decision models it asks."""

    def __init__(self, models: Mapping[str, DeploymentHandle[Any]]) -> None:
        prepare_replica()
        self._models = models
        self._rng = random.Random()
        self._versions: Versions[Mapping[str, CompiledRecipe]] = Versions(_compiled)

    async def reconfigure(self, user_config: Mapping[str, Any]) -> None:
        self._ask = ServeAsk(self._models)
        self._versions.add(Policy.of(user_config))
        # A replica takes requests once this returns. Before it has heard of a model that runs, its
        # guards would have no answer and fail closed.
        await self._ask.connected()

    async def plan(self, call: PlanCall) -> Outcome | NotPlanned:
        recipes = self._versions.get(call.version)
        if recipes is None:
            return NotPlanned()
        return await route(
            call.message,
            recipes[call.recipe],
            ask=self._ask,
            clock=time.monotonic,
            rng=self._rng.random,
            deadline_s=call.remaining_s,
            config_version=call.version,
            explain=call.explain,
        )


def _compiled(policy: Policy) -> Mapping[str, CompiledRecipe]:
    return {
        recipe.name: compile_recipe(recipe, policy.config, policy.cards)
        for recipe in policy.config.recipes
    }
