"""Handles get the answers of HTTP (SRV-15)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx
import orjson
import pytest

from serve_app.deployments.api.endpoints import Endpoints
from serve_app.message import Message
from serve_app.outcome import FastAnswer, Outcome
from tests.doubles.scripted_services import VERSION, ScriptedServices

NOUL = {"type": "noul", "instructions": "Is it urgent?"}
CONFIG = {
    "version": "v1",
    "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
    "recipes": [{"name": "default"}],
}
PER_REQUEST = {"x-vsr-request-id", "x-typesafe-request-id"}
HELLO = [{"role": "user", "content": "hello"}]


def blocked(message: Message, recipe: str) -> Outcome:
    return Outcome(recipe, VERSION, decision="blocked", fast=FastAnswer("no", 200))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("ask", "/v1/systemone", {"model": "primary", "state": "x", "questions": {"q": NOUL}}),
        ("ask", "/v1/systemone", {"model": "nobody", "state": "x", "questions": {"q": NOUL}}),
        ("ask", "/v1/systemone", {"questions": {}}),
        ("preview", "/api/v1/routing/preview", {"text": "hello"}),
        ("preview", "/api/v1/routing/preview", {"model": "auto", "messages": []}),
        ("route", "/v1/chat/completions", {"model": "auto", "messages": HELLO}),
        ("route", "/v1/chat/completions", {"model": "auto", "messages": HELLO, "stream": True}),
        ("respond", "/v1/responses", {"model": "auto", "input": "hello"}),
        ("respond", "/v1/responses", {"model": "auto", "input": "hello", "stream": True}),
        ("respond", "/v1/responses", {"model": "auto"}),
        ("message", "/v1/messages", {"model": "auto", "messages": HELLO, "max_tokens": 9}),
        ("message", "/v1/messages", {"model": "auto", "messages": HELLO}),
    ],
)
async def test_a_handles_answer_is_that_of_http(method: str, path: str, body: Any) -> None:
    """SRV-15"""
    services = ScriptedServices(CONFIG)
    services.plan_with = blocked
    endpoints = Endpoints(services)
    transport = httpx.ASGITransport(endpoints.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://router") as client:
        http = await client.post(path, content=orjson.dumps(body))
    handle = await getattr(endpoints, method)(body)
    assert handle.status == http.status_code
    assert masked(handle.body, handle.headers) == masked(http.content, http.headers)
    shared = {k: v for k, v in http.headers.items() if k not in PER_REQUEST | {"content-length"}}
    assert {k: v for k, v in handle.headers.items() if k not in PER_REQUEST} == shared


def masked(body: bytes, headers: Mapping[str, str]) -> str:
    """Without what differs from one answer to the next: the request's number, and the time."""
    number = headers["x-vsr-request-id"].removeprefix("req_")
    return re.sub(r'"created(_at)?":\d+', "created", body.decode().replace(number, "N"))


@pytest.mark.parametrize("body", [{"text": object()}, {"text": "\ud800"}, {1: "x"}, "x", None])
async def test_what_is_no_json_is_an_error_of_the_callers(body: Any) -> None:
    """SRV-15"""
    answer = await Endpoints(ScriptedServices(CONFIG)).preview(body)
    assert answer.status == 400


async def test_handles_need_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """SRV-15: they are inside the cluster; over HTTP the key is needed (API-11)"""
    monkeypatch.setenv("OPS_KEY", "key-of-ops")
    callers = [{"name": "ops", "api_key_env": "OPS_KEY"}]
    endpoints = Endpoints(ScriptedServices({**CONFIG, "global": {"router": {"callers": callers}}}))
    assert (await endpoints.preview({"text": "x"})).status == 200


def test_a_callers_key_that_is_not_set_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """CFG-2; law 1: an empty key would admit everybody"""
    monkeypatch.setenv("OPS_KEY", " ")
    callers = [{"name": "ops", "api_key_env": "OPS_KEY"}]
    with pytest.raises(ValueError, match="OPS_KEY is not set"):
        Endpoints(ScriptedServices({**CONFIG, "global": {"router": {"callers": callers}}}))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
async def test_a_number_that_json_lacks_is_refused_as_over_http(number: float) -> None:
    """S1-9, SRV-15"""
    services = ScriptedServices(CONFIG)
    endpoints = Endpoints(services)
    questions = {"q": NOUL}
    call: Any = {"model": "primary", "state": {"price": number}, "questions": questions}
    assert (await endpoints.ask(call)).status == 422
    assert (await endpoints.preview({"text": "hello", "x": [number]})).status == 400
    chat: Any = {"model": "auto", "messages": HELLO, "temperature": number}
    assert (await endpoints.route(chat)).status == 400
    assert services.asked == services.planned == []
