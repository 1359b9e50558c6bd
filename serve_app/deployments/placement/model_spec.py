"""A decision model of the catalog, as its process's environment places it (SRV-13).

What needs a new process to change is in the actor's environment: Serve compares it, and replaces
the replicas of the one deployment where it differs (CFG-10).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from models.cards.shipped import shipped_card
from models.engine import Engine
from models.scheduling.settings import DEFAULT_CACHED_ANSWERS, Budget, Settings
from serve_app.config.refused import refused
from serve_app.config.schema.catalog import Artifact, LocalDeployment, Placement
from serve_app.deployments.placement.engines import load_engine

MODEL_VARIABLE: Final = "ROUTER_MODEL"
"""Holds a ``ModelSpec`` in the environment of a model's replica."""

RESULT_CACHE_VARIABLE: Final = "VLLM_SRUN_RESULT_CACHE"
"""CACHE-1. Read by the replica, in the environment of its node or its application."""

MAX_ONGOING_REQUESTS: Final = 1024
"""Above the replica's own bound, so that the replica refuses and not Serve's router (SRV-8)."""

MAX_QUEUED_REQUESTS: Final = 256
"""Per calling process: what may wait for a replica to be chosen, or to start."""

GPU_BUDGET: Final = Budget(tokens=32_768, rows=1024)
"""A GPU computes many short rows in the time of a few."""

_REMEDY: Final = (
    "A Serve file that sets `ray_actor_options` of a DecisionModel deployment replaces all that "
    "the router sets: deploy what `python -m serve_app serve-config FILE` writes, or leave them "
    "out and set `placement` in the router's configuration"
)


class NotPlacedError(ValueError):
    """A replica's environment does not say which model it is for. The message holds no value."""


class ModelSpec(BaseModel):
    """What a replica is started for. The catalog's other keys are policy: who may ask it by which
    name, and how long a judge waits.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    artifact: Artifact
    placement: Placement
    max_queue_s: float

    @classmethod
    def of(cls, deployment: LocalDeployment) -> ModelSpec:
        return cls(
            artifact=deployment.artifact,
            placement=deployment.placement,
            max_queue_s=deployment.max_queue_s,
        )

    @classmethod
    def of_process(cls, environ: Mapping[str, str]) -> ModelSpec:
        """Raises ``NotPlacedError``, which says what to do."""
        written = environ.get(MODEL_VARIABLE)
        if not written:
            raise NotPlacedError(f"the environment has no {MODEL_VARIABLE}. {_REMEDY}")
        try:
            return cls.model_validate_json(written, strict=False)
        except ValidationError as error:
            why = refused(error)
        raise NotPlacedError(f"{MODEL_VARIABLE} is not understood ({why}). {_REMEDY}")

    def as_variable(self) -> str:
        """The same text for the same content, defaults spelled out or not."""
        return json.dumps(self.model_dump(mode="json"), separators=(",", ":"), sort_keys=True)

    def load(self) -> Engine:
        """Here, in this process."""
        return load_engine(shipped_card(self.artifact), self.placement)

    def settings(self, environ: Mapping[str, str]) -> Settings:
        """Raises ``ValueError`` where ``VLLM_SRUN_RESULT_CACHE`` is no whole number from 0."""
        return Settings(
            budget=GPU_BUDGET if self.placement.num_gpus else Budget(),
            max_queue_s=self.max_queue_s,
            cached_answers=_cached_answers(environ.get(RESULT_CACHE_VARIABLE)),
        )


def placed_options(deployment: LocalDeployment) -> dict[str, Any]:
    """The options that follow from the catalog, as JSON: a Serve file can hold them.

    ``OMP_NUM_THREADS`` is set because Ray sets it to 1 for a fraction of a CPU (SRV-4). Ray makes
    floats of what a Serve file says, and to its comparison 0 differs from 0.0.
    """
    placement = deployment.placement
    variables = {MODEL_VARIABLE: ModelSpec.of(deployment).as_variable()}
    if placement.threads is not None:
        variables["OMP_NUM_THREADS"] = str(placement.threads)
    return {
        "num_replicas": deployment.autoscaling.min_replicas,
        "ray_actor_options": {
            "num_cpus": float(placement.num_cpus),
            "num_gpus": float(placement.num_gpus),
            "runtime_env": {"env_vars": variables},
        },
    }


def deployment_options(deployment: LocalDeployment) -> dict[str, Any]:
    """Keyword arguments of ``serve.deployment`` for a model of the catalog.

    Replicas are replaced by ones that answer already (``max_surge_percent``): without a model that
    runs, guards fail closed.
    """
    return {
        "max_ongoing_requests": MAX_ONGOING_REQUESTS,
        "max_queued_requests": MAX_QUEUED_REQUESTS,
        "graceful_shutdown_wait_loop_s": 0.2,
        "max_surge_percent": 100,
        **placed_options(deployment),
    }


def _cached_answers(text: str | None) -> int:
    if text is None:
        return DEFAULT_CACHED_ANSWERS
    if not text.isdecimal():
        raise ValueError(f"{RESULT_CACHE_VARIABLE} must be a whole number from 0")
    return int(text)
