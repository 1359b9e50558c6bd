"""The request stage as a Serve deployment: the policy, given its effects (SRV-1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ray.serve.handle import DeploymentHandle

from serve_app.deployments.asking.remote_models import RemoteModels
from serve_app.deployments.asking.serve_ask import ServeAsk
from serve_app.deployments.planning.call import NotPlanned, PlanCall
from serve_app.deployments.planning.decider import Decider
from serve_app.deployments.planning.revisions import revisions
from serve_app.deployments.process.replica import prepare_replica
from serve_app.deployments.rollout.policy import Policy
from serve_app.deployments.rollout.versions import Versions, keeping_what_runs
from serve_app.outcome import Outcome
from serve_app.recipe import compile_recipe
from serve_app.scan.speed import Speeds


class SignalPlanner:
    """Decides requests by compiled recipes; ``models`` are the decision models it asks."""

    def __init__(self, models: Mapping[str, DeploymentHandle[Any]]) -> None:
        prepare_replica()
        self._models = frozenset(models)
        self._ask = ServeAsk(models)
        self._speeds = Speeds()
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
        speeds = self._speeds.under(revisions(policy))
        return Decider(policy.version, recipes, self._ask, remote, speeds)
