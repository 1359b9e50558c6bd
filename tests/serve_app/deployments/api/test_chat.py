"""Chat through the application to a real provider process, with the client that users have."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from serve_app.errors import Code
from serve_app.message import Message
from serve_app.outcome import FastAnswer, Outcome, Refused
from tests.doubles.scripted_services import VERSION
from tests.doubles.servers import running
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

HELLO: list[Any] = [{"role": "user", "content": "hello there"}]
REFUSAL = "I can't help with that."


def sdk(router: Router, key: str = "anything") -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{router.url}/v1", api_key=key, max_retries=0)


async def asked(echo: str, model: str) -> list[dict[str, Any]]:
    async with httpx.AsyncClient() as client:
        return (await client.get(f"{echo[:-3]}/asked/{model}")).json()


async def test_a_whole_completion_comes_from_the_decided_model(router: Router) -> None:
    """API-1, API-4, HDR-1"""
    raw = await sdk(router).chat.completions.with_raw_response.create(model="auto", messages=HELLO)
    completion = raw.parse()
    assert completion.choices[0].message.content == "[general] hello there"
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 3
    assert raw.headers["x-vsr-selected-recipe"] == "default"
    assert raw.headers["x-vsr-selected-decision"] == "everything"
    assert raw.headers["x-vsr-selected-model"] == "general"
    assert raw.headers["x-vsr-response-path"] == "upstream"
    assert raw.headers["x-vsr-request-id"].startswith("req_")
    assert "provider;dur=" in raw.headers["server-timing"]


async def test_a_stream_keeps_every_chunk_and_the_usage(router: Router) -> None:
    """API-3"""
    stream = await sdk(router).chat.completions.create(
        model="auto", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    words = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert words == ["[general]", " hello", " there"]
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 5


async def test_unknown_fields_and_the_providers_own_model_id_go_upstream(
    start: Start, echo: str
) -> None:
    """API-2"""
    async with start(document(model("general", echo, id="echo-fields"))) as router:
        body = {"model": "auto", "messages": HELLO, "x_new": {"a": [1.5, None]}, "seed": 7}
        answer = await router.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200
    (call,) = await asked(echo, "echo-fields")
    assert call["body"] == {**body, "model": "echo-fields"}


async def test_a_clients_key_and_private_headers_never_reach_the_provider(
    start: Start, echo: str
) -> None:
    """API-7"""
    config = document(model("general", echo, id="echo-headers", api_key_env="GENERAL_KEY"))
    sent = {
        "authorization": "Bearer of-the-client",
        "x-api-key": "of-the-client",
        "cookie": "session=of-the-client",
        "x-vsr-selected-model": "of-the-client",
        "x-team": "blue",
        "accept-language": "caf\xe9".encode("latin-1"),
    }
    async with start(config, {"GENERAL_KEY": "of-the-router"}) as router:
        body = {"model": "auto", "messages": HELLO}
        answer = await router.client.post("/v1/chat/completions", json=body, headers=sent)
    assert answer.status_code == 200
    (call,) = await asked(echo, "echo-headers")
    assert call["headers"]["authorization"] == "Bearer of-the-router"
    assert call["headers"]["x-team"] == "blue"
    assert call["headers"]["accept-language"] == "caf\xe9"
    assert "of-the-client" not in json.dumps(call["headers"])


async def test_a_chat_models_own_name_passes_through_unrouted(router: Router) -> None:
    """API-4"""
    completion = await sdk(router).chat.completions.create(model="general", messages=HELLO)
    assert completion.choices[0].message.content == "[general] hello there"
    assert router.services.planned == []


async def test_an_unknown_model_is_404_and_lists_what_exists(router: Router) -> None:
    """API-4, API-11"""
    with pytest.raises(openai.NotFoundError) as caught:
        await sdk(router).chat.completions.create(model="x" * 500, messages=HELLO)
    body = caught.value.body
    assert isinstance(body, dict)
    assert body["code"] == "model_not_found"
    assert body["param"] == "model"
    assert "auto, general" in body["message"]
    assert "x" * 65 not in body["message"]


def fast(status: Any) -> Any:
    def plan(message: Message, recipe: str) -> Outcome:
        answer = FastAnswer(REFUSAL, status)
        return Outcome(recipe, VERSION, decision="blocked", fast=answer, warnings=("jailbreak",))

    return plan


async def test_a_fast_response_is_a_normal_answer_without_a_provider(router: Router) -> None:
    """65-plugins ``fast_response``; API-8"""
    router.services.plan_with = fast(200)
    raw = await sdk(router).chat.completions.with_raw_response.create(model="auto", messages=HELLO)
    completion = raw.parse()
    assert completion.choices[0].message.content == REFUSAL
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == "auto"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == 3
    assert raw.headers["x-vsr-response-path"] == "fast_response"
    assert raw.headers["x-vsr-warnings"] == "jailbreak"
    assert "x-vsr-selected-model" not in raw.headers


async def test_a_fast_response_streams_in_the_sequence_of_a_provider(router: Router) -> None:
    """65-plugins ``fast_response``; API-1"""
    router.services.plan_with = fast(200)
    stream = await sdk(router).chat.completions.create(
        model="auto", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    first, text, last, usage = [chunk async for chunk in stream]
    assert first.choices[0].delta.role == "assistant"
    assert text.choices[0].delta.content == REFUSAL
    assert last.choices[0].finish_reason == "stop"
    assert usage.choices == []
    assert usage.usage is not None
    assert usage.usage.completion_tokens == 6
    assert len({c.id for c in (first, text, last, usage)}) == 1


async def test_a_fast_response_with_403_is_content_blocked(router: Router) -> None:
    """API-11"""
    router.services.plan_with = fast(403)
    with pytest.raises(openai.PermissionDeniedError) as caught:
        await sdk(router).chat.completions.create(model="auto", messages=HELLO, stream=True)
    body = caught.value.body
    assert isinstance(body, dict)
    assert (body["code"], body["message"]) == ("content_blocked", REFUSAL)
    assert caught.value.response.headers["x-vsr-response-path"] == "blocked"
    assert caught.value.response.headers["x-vsr-selected-decision"] == "blocked"


@pytest.mark.parametrize(
    ("code", "status", "path"),
    [
        (Code.GUARD_UNAVAILABLE, 503, "error"),
        (Code.OVERLOADED, 429, "overloaded"),
        (Code.CONTEXT_LENGTH_EXCEEDED, 400, "error"),
        (Code.NO_DECISION, 404, "error"),
    ],
)
async def test_what_the_policy_refuses_is_an_error_with_the_public_headers(
    router: Router, code: Code, status: int, path: str
) -> None:
    """API-11, API-8"""
    router.services.plan_with = lambda message, recipe: Outcome(
        recipe, VERSION, decision="strict", refused=Refused(code, "because")
    )
    body = {"model": "auto", "messages": HELLO}
    answer = await router.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code.value
    assert answer.json()["error"]["message"] == "because"
    assert answer.headers["x-vsr-selected-decision"] == "strict"
    assert answer.headers["x-vsr-response-path"] == path
    assert ("retry-after" in answer.headers) == (code is Code.OVERLOADED)


async def test_the_conversation_reaches_the_planner_as_texts(router: Router) -> None:
    """SIG-2, SRV-3"""
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "second"},
        {"role": "user", "content": [{"type": "text", "text": "third"}]},
    ]
    await router.client.post("/v1/chat/completions", json={"model": "auto", "messages": messages})
    ((message, recipe, remaining_s),) = router.services.planned
    assert (message.text, recipe, remaining_s) == ("third", "default", None)
    assert router.services.explained is False
    assert [turn.text for turn in message.earlier] == ["first", "second"]


async def test_a_fault_of_the_router_is_a_500_that_says_nothing_of_the_request(
    router: Router, caplog: pytest.LogCaptureFixture
) -> None:
    """API-1; law 5"""

    def broken(message: Message, recipe: str) -> Outcome:
        raise RuntimeError(f"cannot read {message.text}")

    router.services.plan_with = broken
    body = {"model": "auto", "messages": HELLO}
    answer = await router.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "hello there" not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text
    assert answer.headers["x-vsr-request-id"] in caplog.text


@pytest.mark.parametrize("number", [2**64 + 1, -(2**63) - 1, 10**300, 2**64 - 1, -(2**63)])
async def test_an_integer_of_any_size_goes_upstream_as_it_came(start: Start, number: int) -> None:
    """API-2"""
    arrived: list[bytes] = []

    async def complete(request: Request) -> Response:
        arrived.append(await request.body())
        return JSONResponse({})

    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"n": number}}}
    body = {
        "model": "general",
        "messages": [{"role": "assistant", "tool_calls": [call]}, *HELLO],
        "of_tomorrow": {"seed": [number]},
    }
    provider = Starlette(routes=[Route("/chat/completions", complete, methods=["POST"])])
    async with running(provider) as url, start(document(model("general", url))) as router:
        for name in ("auto", "general"):
            sent = json.dumps({**body, "model": name})
            answer = await router.client.post("/v1/chat/completions", content=sent)
            assert answer.status_code == 200
    assert [json.loads(data) for data in arrived] == [body, body]
