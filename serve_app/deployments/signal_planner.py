"""The request stage as a Serve deployment: the policy, given its effects (SRV-1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ray.serve.handle import DeploymentHandle

from serve_app.deployments.asking import ServeAsk
from serve_app.deployments.decider import Decider
from serve_app.deployments.policy import Policy
from serve_app.deployments.process import prepare_replica
from serve_app.deployments.remote_models import RemoteModels
from serve_app.deployments.versions import Versions, keeping_what_runs
from serve_app.errors import Code
from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.recipe import compile_recipe


@dataclass(frozen=True)
class PlanCall:
    """One request for the planner. ``remaining_s``: until the request's own deadline, measured
    when it was sent. ``version``: of the configuration it is decided by. ``explain``: with every
    decision's tree (API-9). ``user_config``: that configuration itself, for a planner that said
    that it has none of that version.
    """

    message: Message
    recipe: str
    version: str
    remaining_s: float | None = None
    explain: bool = False
    user_config: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class NotPlanned:
    """The planner has no configuration of that version (any more, or yet)."""

    code: Code = Code.NOT_READY


class SignalPlanner:
    """Decides requests by compiled recipes; ``models`` are the decision models it asks."""

    def __init__(self, models: Mapping[str, DeploymentHandle[Any]]) -> None:
        prepare_replica()
        self._models = frozenset(models)
        self._ask = ServeAsk(models)
        self._versions = Versions(self._decider)

    async def reconfigure(self, user_config: Mapping[str, Any]) -> None:
        new = not self._versions
        with keeping_what_runs(not new):
            self._versions.add(Policy.of(user_config))
            for decider in self._versions:
                decider.forget()
        if new:
            # A replica takes requests once this returns. Before it has heard of a model that runs,
            # its guards would have no answer and fail closed.
            await self._ask.connected()

    async def plan(self, call: PlanCall) -> Outcome | NotPlanned:
        decider = self._versions.get(call.version) or self._learned(call)
        if decider is None:
            return NotPlanned()
        return await decider.decide(
            call.message, call.recipe, call.remaining_s, explain=call.explain
        )

    def _learned(self, call: PlanCall) -> Decider | None:
        """By the policy that came along: Ingress may change sooner than this replica, or later.
        None where it is of another graph, with models that this one cannot ask.
        """
        if call.user_config is None:
            return None
        policy = Policy.of(call.user_config)
        if not self._models.issuperset(policy.config.global_.model_catalog.local):
            return None
        return self._versions.add(policy)

    def _decider(self, policy: Policy) -> Decider:
        recipes = {
            recipe.name: compile_recipe(recipe, policy.config, policy.cards)
            for recipe in policy.config.recipes
        }
        remote = RemoteModels(policy.config.global_.model_catalog, env=os.environ)
        return Decider(policy.version, recipes, self._ask, remote)
