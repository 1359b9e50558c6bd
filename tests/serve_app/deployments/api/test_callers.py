"""Who may call, who sees the trace, and which of a client's headers count (API-7, HDR-2)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import http_sf
import pytest

from serve_app.outcome import Outcome, RuleOutcome, Truth
from tests.doubles.scripted_services import VERSION
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

NOWHERE = "http://127.0.0.1:9/v1"
ENV = {"OPS_KEY": "key-of-ops", "APP_KEY": "key-of-app"}
PREVIEW = "/api/v1/routing/preview"
NOUL = {"type": "noul", "instructions": "Is it?"}
BODIES: dict[str, Any] = {
    "/v1/systemone": {"model": "jev-latest", "state": "x", "questions": {"q": NOUL}},
    PREVIEW: {"text": "x"},
}


def keyed(**router: Any) -> dict[str, Any]:
    callers = [
        {"name": "ops", "api_key_env": "OPS_KEY"},
        {"name": "app", "api_key_env": "APP_KEY"},
    ]
    headers = {"debug": {"callers": ["ops"]}}
    config = document(model("general", NOWHERE), callers=callers, headers=headers, **router)
    rule = {"name": "team", "header": "X-Team"}
    secret = {"name": "secret", "header": "Authorization"}
    config["recipes"][0]["signals"] = {"metadata": [rule, secret]}
    return config


@pytest.fixture
async def guarded(start: Start) -> AsyncIterator[Router]:
    async with start(keyed(), ENV) as router:
        router.services.plan_with = lambda message, recipe: Outcome(
            recipe,
            VERSION,
            decision="d",
            models=("general",),
            confidence=0.931,
            algorithm="static",
            rules=(RuleOutcome("jailbreak", "attack", Truth.TRUE, Truth.TRUE),),
        )
        yield router


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        "Basic key-of-ops",
        "key-of-ops",
        "Bearer \xe9",
    ],
)
async def test_without_a_known_key_every_entrance_is_401_in_its_format(
    guarded: Router, authorization: str | None
) -> None:
    """API-11"""
    headers = {} if authorization is None else {"authorization": authorization.encode("latin-1")}
    for path, body in BODIES.items():
        answer = await guarded.client.post(path, json=body, headers=headers)
        assert answer.status_code == 401
        if path == "/v1/systemone":
            assert answer.json()["detail"]["error_type"] == "authentication_error"
        else:
            assert answer.json()["error"]["code"] == "invalid_api_key"
    assert (await guarded.client.get("/v1/models", headers=headers)).status_code == 401
    assert guarded.services.planned == []


async def test_a_known_key_is_let_in_and_probes_need_none(guarded: Router) -> None:
    """API-7, API-11"""
    headers = {"authorization": "bearer key-of-app"}
    for path, body in BODIES.items():
        assert (await guarded.client.post(path, json=body, headers=headers)).status_code == 200
    assert (await guarded.client.get("/v1/models", headers=headers)).status_code == 200
    for path in ("/health", "/ready", "/metrics", "/openapi.json", "/docs"):
        assert (await guarded.client.get(path)).status_code == 200


async def test_without_callers_a_stray_key_is_accepted(router: Router) -> None:
    """S1-6"""
    headers = {"authorization": "Bearer anything"}
    for path, body in BODIES.items():
        assert (await router.client.post(path, json=body, headers=headers)).status_code == 200


async def test_only_admitted_callers_get_the_trace(guarded: Router) -> None:
    """HDR-2, API-8"""
    ops = await guarded.client.post(
        PREVIEW, json={"text": "x"}, headers={"authorization": "Bearer key-of-ops"}
    )
    app = await guarded.client.post(
        PREVIEW,
        json={"text": "x"},
        headers={"authorization": "Bearer key-of-app", "x-vsr-caller": "ops"},
    )
    trace = http_sf.parse(ops.headers["x-vsr-trace"].encode(), tltype="dictionary")
    assert str(trace["signals"][0][0][0]) == "jailbreak:attack"
    assert float(trace["confidence"][0]) == 0.931
    assert "x-vsr-trace" not in app.headers
    assert app.headers["x-vsr-selected-decision"] == "d"


async def test_anonymous_callers_never_get_the_trace(start: Start) -> None:
    """HDR-2: the default is nobody"""
    async with start(document(model("general", NOWHERE))) as router:
        answer = await router.client.post(PREVIEW, json={"text": "x"})
    assert answer.status_code == 200
    assert "x-vsr-trace" not in answer.headers


async def test_rules_see_the_headers_they_name_and_no_credential(guarded: Router) -> None:
    """API-7; SRV-3: the planner gets what it reads"""
    headers = {
        "authorization": "Bearer key-of-app",
        "x-team": "blue",
        "x-other": "unread",
        "x-vsr-request-id": "mine",
    }
    answer = await guarded.client.post(PREVIEW, json={"text": "x"}, headers=headers)
    ((message, _, _),) = guarded.services.planned
    assert message.metadata == {"header.x-team": "blue"}
    assert answer.headers["x-vsr-request-id"] != "mine"


async def test_the_timeout_header_is_the_one_of_its_kind_that_counts(guarded: Router) -> None:
    """API-7, BUD-3"""
    headers = {"authorization": "Bearer key-of-app", "x-vsr-timeout-seconds": "2.5"}
    await guarded.client.post(PREVIEW, json={"text": "x"}, headers=headers)
    ((_, _, remaining_s),) = guarded.services.planned
    assert remaining_s is not None
    assert 1.5 < remaining_s <= 2.5
