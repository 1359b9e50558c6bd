"""Probes, metrics, the models' list, and what stands under no path (80-http)."""

from __future__ import annotations

import re

import pytest
from openai import AsyncOpenAI
from prometheus_client.parser import text_string_to_metric_families
from typesafe_sdk import AsyncTypeSafeClient

from models.questions.types import AnswerError
from serve_app.asking.call import Timings
from serve_app.deployments.api.services import Readiness
from serve_app.outcome import CallOutcome, Outcome, RuleOutcome, Truth
from tests.doubles.scripted_services import VERSION
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

HELLO = {"model": "auto", "messages": [{"role": "user", "content": "hello"}]}


async def samples(router: Router) -> dict[str, float]:
    """``name{label="value",…}`` -> value."""
    answer = await router.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = ",".join(f'{k}="{v}"' for k, v in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


async def test_each_thing_counts_under_its_exact_name(
    router: Router, caplog: pytest.LogCaptureFixture
) -> None:
    """API-12, UNK-3"""
    router.services.plan_with = lambda message, recipe: Outcome(
        recipe,
        VERSION,
        decision="counted",
        models=("general",),
        rules=(
            RuleOutcome(
                "jailbreak",
                "attack",
                Truth.UNKNOWN,
                Truth.TRUE,
                reason=AnswerError.OVERLOADED,
                deployment="primary",
            ),
        ),
        calls=(
            CallOutcome("signals", "primary", "batch", {"1": ("q",)}, 1.0, Timings()),
            CallOutcome(
                "selector",
                "far",
                "standard",
                {"1": ("selector",)},
                1.0,
                attempts=2,
                unanswered={"1": {"selector": AnswerError.UNAVAILABLE}},
            ),
        ),
    )
    before = await samples(router)
    answer = await router.client.post("/v1/chat/completions", json=HELLO)
    after = await samples(router)
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    for name in (
        'vsr_requests_total{route="/v1/chat/completions",status="200"}',
        'vsr_decisions_total{decision="counted",recipe="default"}',
        'vsr_signal_unknown_total{reason="overloaded",signal="jailbreak"}',
        'vsr_signal_failed_closed_total{signal="jailbreak"}',
        'vsr_signal_calls_total{deployment="primary",form="batch"}',
        'vsr_signal_unknown_total{reason="unavailable",signal="selector"}',
        'vsr_model_queue_seconds_count{deployment="primary"}',
        'vsr_provider_attempts_total{model="general",outcome="ok"}',
        'vsr_request_duration_seconds_count{route="/v1/chat/completions"}',
    ):
        assert grown[name] == 1, name
    assert grown['vsr_signal_calls_total{deployment="far",form="standard"}'] == 2
    assert 'vsr_model_queue_seconds_count{deployment="far"}' not in after
    (line,) = [r.message for r in caplog.records if "signal_failed_closed" in r.message]
    assert '"rule":"jailbreak:attack"' in line
    assert '"reason":"overloaded"' in line
    assert '"deployment":"primary"' in line
    assert answer.headers["x-vsr-request-id"] in line
    assert "hello" not in line


async def test_readiness_names_what_is_missing(router: Router) -> None:
    """80-http ``/ready``"""
    ready = await router.client.get("/ready")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    router.services.ready["DecisionModel:second"] = Readiness(False, "loading")
    waiting = await router.client.get("/ready")
    assert waiting.status_code == 503
    assert waiting.json()["deployments"]["DecisionModel:second"] == {
        "ready": False,
        "reason": "loading",
    }
    assert (await router.client.get("/health")).status_code == 200


async def test_the_openai_client_lists_every_name_once(router: Router) -> None:
    """S1-8"""
    sdk = AsyncOpenAI(base_url=f"{router.url}/v1", api_key="-")
    names = [model.id async for model in await sdk.models.list()]
    assert names == ["auto", "general", "scripted-1.0", "primary", "jev-latest", "jev-preview"]


async def test_both_official_clients_read_a_list_with_prices(start: Start, echo: str) -> None:
    """S1-8"""
    pricing = {"prompt_per_1m": 0.1, "completion_per_1m": 0.4}
    async with start(document({**model("general", echo), "pricing": pricing})) as router:
        openai = AsyncOpenAI(base_url=f"{router.url}/v1", api_key="-")
        listed = {m.id: m.model_dump().get("pricing") async for m in await openai.models.list()}
        async with AsyncTypeSafeClient(api_key="-", base_url=router.url) as client:
            decision_models = [m.name for m in (await client.models.list()).models]
    assert listed["general"] == pricing
    assert listed["auto"] is None
    assert decision_models == ["scripted-1.0", "primary", "jev-latest", "jev-preview"]


async def test_both_official_clients_read_a_list_with_remote_models(
    start: Start, echo: str
) -> None:
    """S1-8: their release dates are not known, and what their APIs call them is no name here."""
    config = document(model("general", echo))
    far = {"provider": "systemone", "endpoint": "http://127.0.0.1:9", "model": "jev-latest"}
    local = {"provider": "model_runtime", "artifact": "embedded"}
    deployments = {"primary": local, "again": local, "far": far, "farther": far}
    config["global"]["model_catalog"] = {"deployments": deployments}
    async with start(config) as router:
        openai = AsyncOpenAI(base_url=f"{router.url}/v1", api_key="-")
        created = {m.id: m.created async for m in await openai.models.list()}
        async with AsyncTypeSafeClient(api_key="-", base_url=router.url) as client:
            models = {m.name: m for m in (await client.models.list()).models}
    names = ["scripted-1.0", "primary", "jev-latest", "jev-preview", "again", "far", "farther"]
    assert [name for name in created if name not in ("auto", "general")] == names
    assert list(models) == names
    assert (models["far"].release_date, created["far"]) == ("1970-01-01", 0)
    assert models["farther"].description == "jev-latest, at a System One API elsewhere"


@pytest.mark.parametrize("path", ["/nothing", "/v1", "/v1/decisions", "/v1/responses/resp_1"])
async def test_there_is_nothing_under_other_paths(router: Router, path: str) -> None:
    """API-11"""
    answer = await router.client.post(path, json=HELLO)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


async def test_a_wrong_method_is_405_in_the_paths_format(router: Router) -> None:
    """API-11"""
    chat = await router.client.get("/v1/chat/completions")
    systemone = await router.client.get("/v1/systemone")
    assert chat.status_code == systemone.status_code == 405
    assert chat.headers["allow"] == "POST"
    assert chat.json()["error"]["code"] == "method_not_allowed"
    assert systemone.json()["detail"]["error_type"] == "api_usage_error"


async def test_the_schema_names_every_path_that_is_served(router: Router) -> None:
    """80-http ``/openapi.json``"""
    schema = (await router.client.get("/openapi.json")).json()
    assert re.fullmatch(r"3\.\d\.\d", schema["openapi"])
    for path, operations in schema["paths"].items():
        for method in operations:
            answer = await router.client.request(method, path, json={})
            assert answer.status_code not in (404, 405), path
