"""What a replica of a decision model tells of itself. SRV-13"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from models.engine import Engine, ModelDescription, Runtime
from serve_app.deployments import decision_model
from serve_app.deployments.decision_model import DecisionModel
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
