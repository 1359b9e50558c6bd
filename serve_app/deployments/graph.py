"""Ingress's services over Serve handles."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any, Final, cast

from ray.exceptions import RayActorError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    ReplicaUnavailableError,
)
from ray.serve.handle import DeploymentHandle

from models.cards.schema import Card
from models.questions.types import AnswerError
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from serve_app.asking.call import Call, Reply
from serve_app.config.schema.document import Config
from serve_app.config.shown import shown_config
from serve_app.deployments.api.services import Readiness
from serve_app.deployments.asking.handles import UPDATE_S, heard_of, method, result, running
from serve_app.deployments.asking.model_client import ask_model
from serve_app.deployments.asking.remote_models import RemoteModels
from serve_app.deployments.planning.call import NotPlanned, PlanCall
from serve_app.deployments.rollout.policy import Policy, serve_name
from serve_app.errors import Code, RouterError
from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.recipe import compile_recipe

DESCRIPTION_S: Final = 0.5
"""How long a look at the readiness waits for a model to describe itself."""

TEACH_AFTER_S: Final = (0.0, 0.1, 0.3, 0.6, 1.0, 1.0)
"""Before each time that a planner is sent the policy which it said it lacks. The first is enough,
except where the graph itself gains a model: its planners are replaced within a few seconds."""


class Graph:
    """The graph behind Ingress under one policy; ``models``: by deployment of the catalog."""

    def __init__(
        self,
        policy: Policy,
        planner: DeploymentHandle[Any],
        models: Mapping[str, DeploymentHandle[Any]],
    ) -> None:
        self._policy = policy
        self._plan = method(planner, "plan")
        self._models = {name: method(model, "answer") for name, model in models.items()}
        self._describe = {name: method(model, "describe") for name, model in models.items()}
        self._remote = RemoteModels(policy.config.global_.model_catalog, env=os.environ)
        self._reads = {
            recipe.name: compile_recipe(recipe, policy.config, policy.cards).reads
            for recipe in policy.config.recipes
        }

    @property
    def config(self) -> Config:
        return self._policy.config

    @property
    def config_version(self) -> str:
        return self._policy.version

    @property
    def shown(self) -> Mapping[str, Any]:
        return self._policy.shown or shown_config(self._policy.config)

    @property
    def cards(self) -> Mapping[str, Card]:
        return self._policy.cards

    async def connected(self) -> None:
        """Returns when all behind is known to run, a few seconds later if something does not."""
        await heard_of([self._plan, *self._models.values()])

    async def plan(
        self, message: Message, recipe: str, remaining_s: float | None, *, explain: bool
    ) -> Outcome:
        narrowed = self._reads[recipe].narrow(message)
        call = PlanCall(narrowed, recipe, self.config_version, remaining_s, explain)
        began = monotonic()
        outcome = await self._planned(call)
        for pause_s in TEACH_AFTER_S:
            if not isinstance(outcome, NotPlanned):
                return outcome
            await asyncio.sleep(pause_s)
            left_s = None if remaining_s is None else remaining_s - (monotonic() - began)
            taught = replace(call, remaining_s=left_s, user_config=self._policy.user_config())
            outcome = await self._planned(taught)
        if isinstance(outcome, NotPlanned):
            raise _changing()
        return outcome

    async def _planned(self, call: PlanCall) -> Outcome | NotPlanned:
        """Once more where a planner died with the request: deciding has no side effect."""
        for _ in range(2):
            try:
                return cast(Outcome | NotPlanned, await result(self._plan.remote(call)))
            except BackPressureError:
                raise RouterError(
                    Code.OVERLOADED, "the router has no room", retry_after_s=1.0
                ) from None
            except (RayActorError, ReplicaUnavailableError, DeploymentUnavailableError):
                continue
        raise _changing()

    async def answer_systemone(self, deployment: str, call: ModelCall) -> ModelReply | Refusal:
        model = self._models.get(deployment)
        if model is None or not running(model):
            return Refusal(AnswerError.NOT_READY)
        return await ask_model(model, call)

    async def ask_remote(self, call: Call) -> Reply:
        return await self._remote.ask(call)

    async def aclose(self) -> None:
        """Ends the connections to remote models; no request may be open."""
        await self._remote.aclose()

    async def readiness(self) -> Mapping[str, Readiness]:
        await heard_of([self._plan, *self._models.values()], UPDATE_S)
        models = await asyncio.gather(*map(self._model_ready, self._models))
        return {"SignalPlanner": _ready(self._plan)} | {
            serve_name(name): ready for name, ready in zip(self._models, models, strict=True)
        }

    async def _model_ready(self, name: str) -> Readiness:
        ready = _ready(self._models[name])
        if not ready.ready:
            return ready
        with suppress(Exception):  # a replica that is about to go tells nothing
            async with asyncio.timeout(DESCRIPTION_S):
                return Readiness(True, model=await result(self._describe[name].remote()))
        return ready


def _ready(handle: DeploymentHandle[Any]) -> Readiness:
    if running(handle):
        return Readiness(True)
    return Readiness(False, "no replica is running")


def _changing() -> RouterError:
    return RouterError(Code.NOT_READY, "the router is starting or changing; ask again")
