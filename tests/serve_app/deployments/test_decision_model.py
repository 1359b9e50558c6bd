"""What a replica of a decision model tells of itself, and what it is told. SRV-8, SRV-13"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from models.engine import Engine, ModelDescription, Runtime
from serve_app.config.schema.catalog import LocalDeployment
from serve_app.deployments import decision_model
from serve_app.deployments.decision_model import DecisionModel, PlacedModel
from serve_app.deployments.placement.model_spec import MODEL_VARIABLE, ModelSpec
from tests.doubles.engines import FixedTimeEngine


class PlacedEngine(FixedTimeEngine):
    runtime = Runtime("cuda", "bfloat16", 4)


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        (PlacedEngine, ModelDescription("fixed", "1", "cuda", "bfloat16", 4)),
        (FixedTimeEngine, ModelDescription("fixed", "1")),
    ],
)
async def test_a_replica_describes_the_model_it_loaded(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[], Engine], expected: ModelDescription
) -> None:
    monkeypatch.setattr(decision_model, "prepare_replica", lambda: None)
    assert await DecisionModel(load).describe() == expected


async def test_a_replica_runs_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """SRV-8, CACHE-1: its own bound on what waits, and the cache size of its node"""
    placed = LocalDeployment(provider="model_runtime", artifact="embedded", max_queue_s=3)
    monkeypatch.setattr(decision_model, "prepare_replica", lambda: None)
    monkeypatch.setenv(MODEL_VARIABLE, ModelSpec.of(placed).as_variable())
    monkeypatch.setenv("VLLM_SRUN_RESULT_CACHE", "0")
    made = []
    monkeypatch.setattr(
        decision_model, "Runner", lambda engine, settings, **_: made.append((engine, settings))
    )
    PlacedModel("primary", FixedTimeEngine)
    ((engine, settings),) = made
    assert isinstance(engine, FixedTimeEngine)
    assert (settings.max_queue_s, settings.cached_answers) == (3, 0)
