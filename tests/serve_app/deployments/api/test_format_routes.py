"""What the router itself says to clients of each format: fast answers, refusals, errors, counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import openai
import pytest
from openai import AsyncOpenAI

from serve_app.errors import TABLE, Code, WireFormat
from serve_app.message import Message
from serve_app.outcome import FastAnswer, Outcome, Refused
from tests.doubles.format_clients import CLIENTS, KEY, TOOL
from tests.doubles.scripted_services import VERSION
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

REFUSAL = "I can't help with that."
NAMES = {
    "openai": WireFormat.CHAT,
    "responses": WireFormat.RESPONSES,
    "anthropic": WireFormat.ANTHROPIC,
}
NOWHERE = "http://127.0.0.1:9/v1"
PREVIEW = "/api/v1/routing/preview"
COUNT = "/v1/messages/count_tokens"


@pytest.fixture
async def nowhere(start: Start) -> AsyncIterator[Router]:
    """A router whose one provider nobody can reach."""
    async with start(document(model("general", NOWHERE))) as router:
        yield router


def check_error(api_format: str, answer: Any, code: Code) -> None:
    wire = TABLE[code][NAMES[api_format]]
    body = answer.json()
    assert answer.status_code == wire.status
    assert body["error"]["type"] == wire.type
    assert answer.headers["x-vsr-request-id"].startswith("req_")
    if api_format == "anthropic":
        assert body["type"] == "error"
        assert set(body["error"]) == {"type", "message"}
    else:
        assert set(body["error"]) == {"message", "type", "param", "code"}


def fast(status: Any) -> Any:
    def plan(message: Message, recipe: str) -> Outcome:
        answer = FastAnswer(REFUSAL, status)
        return Outcome(recipe, VERSION, decision="blocked", fast=answer, warnings=("jailbreak",))

    return plan


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_fast_response_is_a_normal_answer_in_the_clients_format(
    nowhere: Router, inbound: str, stream: bool
) -> None:
    """65-plugins ``fast_response``; API-1, API-8"""
    nowhere.services.plan_with = fast(200)
    said = await CLIENTS[inbound].ask(nowhere.url, "auto", stream)
    assert REFUSAL in repr(said)
    assert "failed" not in repr(said)
    body = CLIENTS[inbound].body("auto", stream=stream)
    answer = await nowhere.client.post(CLIENTS[inbound].path, json=body)
    assert answer.headers["x-vsr-response-path"] == "fast_response"
    assert answer.headers["x-vsr-warnings"] == "jailbreak"
    assert answer.headers["x-vsr-selected-decision"] == "blocked"


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_fast_response_with_403_is_an_error_in_the_clients_format(
    nowhere: Router, inbound: str
) -> None:
    """API-11"""
    nowhere.services.plan_with = fast(403)
    raised = anthropic if inbound == "anthropic" else openai
    with pytest.raises(raised.PermissionDeniedError, match="can't help"):
        await CLIENTS[inbound].ask(nowhere.url, "auto", True)
    answer = await nowhere.client.post(
        CLIENTS[inbound].path, json=CLIENTS[inbound].body("auto", stream=True)
    )
    check_error(inbound, answer, Code.CONTENT_BLOCKED)
    assert answer.headers["x-vsr-response-path"] == "blocked"


@pytest.mark.parametrize("code", [Code.GUARD_UNAVAILABLE, Code.OVERLOADED, Code.NO_DECISION])
@pytest.mark.parametrize("inbound", CLIENTS)
async def test_what_the_policy_refuses_reaches_no_provider(
    nowhere: Router, inbound: str, code: Code
) -> None:
    """API-11, OVL-10"""
    nowhere.services.plan_with = lambda message, recipe: Outcome(
        recipe, VERSION, decision="strict", refused=Refused(code, "because")
    )
    answer = await nowhere.client.post(CLIENTS[inbound].path, json=CLIENTS[inbound].body("auto"))
    check_error(inbound, answer, code)
    assert ("retry-after" in answer.headers) == (code is Code.OVERLOADED)


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_provider_that_nobody_can_reach_is_an_error_in_the_clients_format(
    nowhere: Router, inbound: str
) -> None:
    """API-5, API-11"""
    answer = await nowhere.client.post(CLIENTS[inbound].path, json=CLIENTS[inbound].body("auto"))
    check_error(inbound, answer, Code.PROVIDER_FAILED)
    assert answer.headers["x-vsr-selected-model"] == "general"


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_body_that_is_not_read_is_an_error_in_the_clients_format(
    nowhere: Router, inbound: str
) -> None:
    """API-6, API-11"""
    path, body = CLIENTS[inbound].path, CLIENTS[inbound].body
    post = nowhere.client.post
    check_error(inbound, await post(path, content=b"{"), Code.INVALID_REQUEST)
    check_error(inbound, await post(path, json={"model": "auto"}), Code.INVALID_REQUEST)
    check_error(inbound, await post(path, content=b'{"a":' + b"[" * 99), Code.INVALID_REQUEST)
    deep = b'{"a":' + b"[" * 99 + b"]" * 99 + b"}"
    check_error(inbound, await post(path, content=deep), Code.TOO_DEEP)
    large = b" " * (8 * 1024 * 1024 + 1)
    check_error(inbound, await post(path, content=large), Code.REQUEST_TOO_LARGE)
    check_error(inbound, await post(path, json=body("nobody")), Code.MODEL_NOT_FOUND)
    check_error(inbound, await nowhere.client.get(path), Code.METHOD_NOT_ALLOWED)
    check_error(inbound, await post(f"{path}/nothing", json={}), Code.NOT_FOUND)


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_key_counts_as_a_bearers_or_as_x_api_key(start: Start, inbound: str) -> None:
    """API-7, API-11: each format's SDK has its own place for it"""
    callers = [{"name": "app", "api_key_env": "APP_KEY"}]
    config = document(model("general", NOWHERE), callers=callers)
    path, body = CLIENTS[inbound].path, CLIENTS[inbound].body("auto")
    async with start(config, {"APP_KEY": KEY}) as router:
        router.services.plan_with = fast(200)
        assert REFUSAL in repr(await CLIENTS[inbound].ask(router.url, "auto", False))
        for key in ({}, {"x-api-key": "wrong"}, {"x-api-key": ""}, {"authorization": KEY}):
            answer = await router.client.post(path, json=body, headers=key)
            check_error(inbound, answer, Code.INVALID_API_KEY)
        for key in ({"x-api-key": KEY}, {"authorization": f"Bearer {KEY}"}):
            assert (await router.client.post(path, json=body, headers=key)).status_code == 200
        both = {"authorization": "Bearer of-a-proxy", "x-api-key": KEY}
        assert (await router.client.post(path, json=body, headers=both)).status_code == 200


@pytest.mark.parametrize(
    "more", [{"previous_response_id": "resp_1"}, {"conversation": {"id": "conv_1"}}]
)
async def test_a_response_that_is_kept_elsewhere_is_refused_by_its_name(
    nowhere: Router, more: dict[str, Any]
) -> None:
    """80-http ``/v1/responses``: no rule could read what it stands for"""
    sdk = AsyncOpenAI(base_url=f"{nowhere.url}/v1", api_key="-", max_retries=0)
    with pytest.raises(openai.BadRequestError, match="keeps no responses") as caught:
        await sdk.responses.create(model="auto", input="go on", **more)
    assert caught.value.param == next(iter(more))
    assert nowhere.services.planned == []


async def test_the_beta_client_of_anthropic_finds_its_routes(nowhere: Router) -> None:
    """80-http: it asks for ``?beta=true``, as coding agents do"""
    nowhere.services.plan_with = fast(200)
    sdk = anthropic.AsyncAnthropic(base_url=nowhere.url, api_key="-", max_retries=0)
    messages: Any = [{"role": "user", "content": "1234"}]
    said = await sdk.beta.messages.create(
        model="auto", max_tokens=9, messages=messages, betas=["of-tomorrow"]
    )
    assert REFUSAL in repr(said)
    counted = await sdk.beta.messages.count_tokens(model="auto", messages=messages)
    assert counted.input_tokens == 1


async def test_tokens_are_counted_without_a_provider(nowhere: Router) -> None:
    """80-http; API-6"""
    sdk = anthropic.AsyncAnthropic(base_url=nowhere.url, api_key="-", max_retries=0)
    counted = await sdk.messages.count_tokens(
        model="auto", system="12345678", messages=[{"role": "user", "content": "1234"}]
    )
    assert counted.input_tokens == 3
    assert nowhere.services.planned == []
    with pytest.raises(anthropic.NotFoundError, match="there are: auto, general"):
        await sdk.messages.count_tokens(model="x", messages=[{"role": "user", "content": "1"}])
    with pytest.raises(anthropic.BadRequestError):
        await sdk.messages.count_tokens(model="auto", messages=[])
    check_error("anthropic", await nowhere.client.get(COUNT), Code.METHOD_NOT_ALLOWED)


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_preview_takes_a_body_of_any_format(nowhere: Router, inbound: str) -> None:
    """API-9: the rules read what they would of the request itself"""
    body = CLIENTS[inbound].body("auto")
    shown = await nowhere.client.post(PREVIEW, json=body)
    assert shown.status_code == 200
    await nowhere.client.post(CLIENTS[inbound].path, json=body)
    (previewed, *_), (asked, *_) = nowhere.services.planned
    assert previewed == asked
    assert [turn.text for turn in asked.earlier] == ["Be kind."]


@pytest.mark.parametrize(
    "more",
    [
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]},
        {"tools": [{"name": "look", "input_schema": TOOL}]},
        {"stop_sequences": ["x"]},
    ],
)
async def test_a_preview_knows_messages_by_its_words(nowhere: Router, more: Any) -> None:
    """API-9: or by the version that its clients send"""
    body = {"model": "auto", "messages": [{"role": "user", "content": "x"}], **more}
    # Without its max_tokens: Messages demands one, Chat does not.
    assert (await nowhere.client.post(PREVIEW, json=body)).status_code == 400
    assert (await nowhere.client.post(PREVIEW, json={**body, "max_tokens": 1})).status_code == 200
    plain = {"model": "auto", "messages": [{"role": "user", "content": "x"}]}
    version = {"anthropic-version": "2023-06-01"}
    assert (await nowhere.client.post(PREVIEW, json=plain, headers=version)).status_code == 400
    assert (await nowhere.client.post(PREVIEW, json=plain)).status_code == 200


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_the_conversation_reaches_the_planner_as_texts(nowhere: Router, inbound: str) -> None:
    """SIG-2"""
    await nowhere.client.post(CLIENTS[inbound].path, json=CLIENTS[inbound].body("auto"))
    ((message, recipe, _),) = nowhere.services.planned
    assert (message.text, recipe) == ("Hello, thére", "default")
    assert [turn.text for turn in message.earlier] == ["Be kind."]
    assert message.counts.tool_definitions == 1
