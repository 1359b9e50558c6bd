"""The preview shows what a request would do and calls no chat model (API-9, HDR-4)."""

from __future__ import annotations

from typing import Any

from models.questions.types import AnswerError
from serve_app.asking.call import Timings
from serve_app.errors import Code
from serve_app.outcome import (
    CallOutcome,
    DecisionOutcome,
    FastAnswer,
    NearestChange,
    NodeOutcome,
    Outcome,
    Refused,
    RuleOutcome,
    Truth,
)
from tests.doubles.scripted_services import VERSION
from tests.serve_app.deployments.api.conftest import Router

PREVIEW = "/api/v1/routing/preview"
FULL = Outcome(
    recipe="default",
    config_version=VERSION,
    decision="hard-math",
    models=("reasoner", "general"),
    fallback=True,
    algorithm="systemone",
    confidence=0.75,
    ranking=(("reasoner", 0.75), ("general", 0.25)),
    rules=(
        RuleOutcome(
            "jailbreak",
            "attack",
            Truth.UNKNOWN,
            Truth.TRUE,
            threshold=0.5,
            reason=AnswerError.OVERLOADED,
            question_id="preset:jailbreak",
            deployment="primary",
        ),
        RuleOutcome(
            "systemone",
            "needs_tools",
            Truth.FALSE,
            Truth.FALSE,
            value=0.4,
            threshold=0.7,
            margin=-0.3,
            question_id="systemone:needs_tools",
            deployment="primary",
        ),
    ),
    decisions=(
        DecisionOutcome(
            "agentic",
            100,
            Truth.FALSE,
            NodeOutcome(
                Truth.FALSE,
                operator="AND",
                children=(NodeOutcome(Truth.FALSE, condition="systemone:needs_tools"),),
            ),
            nearest=NearestChange("systemone:needs_tools", value=0.4, needed=0.7),
        ),
    ),
    calls=(
        CallOutcome(
            "signals",
            "primary",
            "standard",
            {"1": ("preset:jailbreak", "systemone:needs_tools")},
            ms=4.5,
            timings=Timings(0.5, 1.0, 2.5),
        ),
    ),
    warnings=("jailbreak",),
    stage_ms={"signals": 5.0},
)


async def preview(router: Router, body: dict[str, Any]) -> Any:
    return await router.client.post(PREVIEW, json=body)


async def test_everything_that_was_found_is_shown(router: Router) -> None:
    """API-9, HDR-4, HDR-1"""
    router.services.plan_with = lambda message, recipe: FULL
    answer = await preview(router, {"text": "prove it"})
    assert router.services.explained is True
    shown = answer.json()
    assert (shown["recipe"], shown["decision"], shown["model"]) == (
        "default",
        "hard-math",
        "reasoner",
    )
    attack, tools = shown["rules"]
    assert (attack["verdict"], attack["effective"]) == ("unknown", "match")
    assert attack["reason"] == "overloaded"
    assert (tools["value"], tools["threshold"], tools["margin"]) == (0.4, 0.7, -0.3)
    assert (tools["question_id"], tools["deployment"]) == ("systemone:needs_tools", "primary")
    (agentic,) = shown["decisions"]
    assert agentic["tree"]["operator"] == "AND"
    assert agentic["tree"]["conditions"] == [
        {"condition": "systemone:needs_tools", "truth": "no_match"}
    ]
    assert agentic["nearest"]["rule"] == "systemone:needs_tools"
    assert round(agentic["nearest"]["by"], 6) == 0.3
    (call,) = shown["calls"]
    assert (call["deployment"], call["form"], call["states"], call["ms"]) == (
        "primary",
        "standard",
        1,
        4.5,
    )
    assert call["questions"] == {"1": ["preset:jailbreak", "systemone:needs_tools"]}
    assert shown["scan_coverage"] == {}
    assert shown["ranking"][0] == {"model": "reasoner", "score": 0.75}
    assert answer.headers["x-vsr-selected-model"] == "reasoner"
    assert answer.headers["x-vsr-response-path"] == "upstream"
    assert answer.headers["server-timing"] == (
        "signals;dur=5.000, queue;dur=0.500, tokenize;dur=1.000, forward;dur=2.500"
    )


async def test_a_text_and_a_chat_body_of_it_are_the_same_request(router: Router) -> None:
    """API-9"""
    await preview(router, {"text": "hello", "model": "auto"})
    await preview(router, {"text": "hello"})
    await preview(router, {"model": "auto", "messages": [{"role": "user", "content": "hello"}]})
    (first, *others) = router.services.planned
    assert [first, first] == others


async def test_a_request_that_would_be_blocked_or_refused_is_shown_as_such(router: Router) -> None:
    """API-9"""
    router.services.plan_with = lambda message, recipe: Outcome(
        recipe, VERSION, decision="blocked", fast=FastAnswer("no", 403)
    )
    blocked = await preview(router, {"text": "x"})
    assert blocked.json()["fast_response"] == {"message": "no", "status": 403}
    assert blocked.headers["x-vsr-response-path"] == blocked.json()["response_path"] == "blocked"
    router.services.plan_with = lambda message, recipe: Outcome(
        recipe, VERSION, refused=Refused(Code.GUARD_UNAVAILABLE, "why")
    )
    refused = await preview(router, {"text": "x"})
    assert refused.status_code == 200
    assert refused.json()["error"] == {
        "code": "guard_unavailable",
        "status": 503,
        "message": "why",
    }


async def test_a_chat_models_own_name_is_shown_as_unrouted(router: Router) -> None:
    """API-4, API-9"""
    shown = (await preview(router, {"text": "x", "model": "general"})).json()
    assert (shown["recipe"], shown["decision"], shown["model"]) == (None, None, "general")
    assert router.services.planned == []
    assert (await preview(router, {"text": "x", "model": "nobody"})).status_code == 404
