"""How a model of the catalog becomes a Serve deployment. SRV-4, SRV-8, SRV-13, CACHE-1"""

from __future__ import annotations

import pickle

import pytest
from ray import serve

from models.scheduling.settings import Budget
from serve_app.config.schema.catalog import Autoscaling, LocalDeployment, Placement
from serve_app.deployments.decision_model import PlacedModel
from serve_app.deployments.placement.model_spec import (
    GPU_BUDGET,
    MODEL_VARIABLE,
    ModelSpec,
    NotPlacedError,
    deployment_options,
    placed_options,
)


def deployment(
    placement: Placement | None = None,
    autoscaling: Autoscaling | None = None,
    max_queue_s: float = 10,
) -> LocalDeployment:
    return LocalDeployment(
        provider="model_runtime",
        artifact="embedded",
        placement=placement or Placement(),
        autoscaling=autoscaling or Autoscaling(),
        max_queue_s=max_queue_s,
    )


def test_the_replica_refuses_before_the_router_does() -> None:
    options = deployment_options(deployment())
    settings = ModelSpec.of(deployment()).settings({})
    assert options["max_ongoing_requests"] == 1024 > settings.max_calls == 256
    assert 0 < options["max_queued_requests"] <= settings.max_calls


def test_serve_accepts_the_options() -> None:
    placement = Placement(num_cpus=0.5, threads=2)
    for replicas in (1, 3):
        options = deployment_options(deployment(placement, Autoscaling(min_replicas=replicas)))
        bound = serve.deployment(PlacedModel, name="primary", **options)
        assert bound.num_replicas == replicas
        assert bound.max_queued_requests == 256
        assert bound.ray_actor_options["num_cpus"] == 0.5
        variables = bound.ray_actor_options["runtime_env"]["env_vars"]
        assert variables["OMP_NUM_THREADS"] == "2"


def test_the_queue_is_as_long_as_the_catalog_says() -> None:
    assert ModelSpec.of(deployment(max_queue_s=3)).settings({}).max_queue_s == 3


def test_a_gpu_gets_larger_forwards() -> None:
    assert ModelSpec.of(deployment()).settings({}).budget == Budget()
    placed = deployment(Placement(num_gpus=0.5))
    assert ModelSpec.of(placed).settings({}).budget == GPU_BUDGET


@pytest.mark.parametrize(("text", "answers"), [(None, 4096), ("0", 0), ("10", 10)])
def test_a_variable_sets_the_size_of_the_result_cache(text: str | None, answers: int) -> None:
    environ = {} if text is None else {"VLLM_SRUN_RESULT_CACHE": text}
    assert ModelSpec.of(deployment()).settings(environ).cached_answers == answers


@pytest.mark.parametrize("text", ["", "-1", "1.5", "many", "²"])
def test_a_cache_size_that_is_no_number_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="VLLM_SRUN_RESULT_CACHE"):
        ModelSpec.of(deployment()).settings({"VLLM_SRUN_RESULT_CACHE": text})


def variable(spec: LocalDeployment) -> str:
    variables = placed_options(spec)["ray_actor_options"]["runtime_env"]["env_vars"]
    return str(variables[MODEL_VARIABLE])


@pytest.mark.parametrize(
    "changed",
    [
        deployment(Placement(device="cpu")),
        deployment(Placement(threads=3)),
        deployment(Placement(dtype="bfloat16")),
        deployment(max_queue_s=3),
    ],
)
def test_what_needs_a_new_process_is_in_the_actors_environment(changed: LocalDeployment) -> None:
    """CFG-10: Serve replaces replicas whose actor options differ"""
    assert variable(changed) != variable(deployment())
    assert ModelSpec.of_process({MODEL_VARIABLE: variable(changed)}) == ModelSpec.of(changed)


@pytest.mark.parametrize("policy", [{"aliases": ["quick"]}, {"timeout_ms": 300}])
def test_what_is_policy_is_not_in_it(policy: dict[str, object]) -> None:
    """CFG-10"""
    changed = LocalDeployment.model_validate(
        {"provider": "model_runtime", "artifact": "embedded", **policy}
    )
    assert placed_options(changed) == placed_options(deployment())


def test_a_default_spelled_out_changes_nothing() -> None:
    """CFG-10"""
    written = deployment(Placement(device="auto", num_cpus=0.25, dtype="auto"), max_queue_s=10.0)
    bare = LocalDeployment(provider="model_runtime", artifact="embedded")
    assert placed_options(written) == placed_options(bare)


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "has no ROUTER_MODEL"),
        ({MODEL_VARIABLE: ""}, "has no ROUTER_MODEL"),
        ({MODEL_VARIABLE: "sk-1"}, r"not understood \(ModelSpec: all of it \(json_invalid\)\)"),
        ({MODEL_VARIABLE: '{"artifact": "sk-1"}'}, r"artifact \(literal_error\), placement \(mi"),
    ],
)
def test_a_replica_that_is_not_told_its_model_says_what_to_do(
    environ: dict[str, str], why: str
) -> None:
    """SRV-13: a Serve file's actor options replace those of the graph"""
    with pytest.raises(NotPlacedError, match=why) as found:
        ModelSpec.of_process(environ)
    assert "python -m serve_app serve-config" in str(found.value)
    assert "ray_actor_options" in str(found.value)
    assert "sk-1" not in str(found.value)
    assert found.value.__context__ is None
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)
