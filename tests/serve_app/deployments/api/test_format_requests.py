"""What of a client's request reaches a provider, of its own format and of another."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.wire.body import json_bytes
from serve_app.wire.formats import FORMATS as WIRE_FORMATS
from tests.doubles.format_clients import CLIENTS
from tests.doubles.scripted_services import VERSION
from tests.serve_app.deployments.api.conftest import Start, document
from tests.serve_app.deployments.api.test_formats import FORMATS, PAIRS, both

FINITE = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | FINITE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
EXTRA = st.dictionaries(st.text(min_size=1, max_size=8).map("x{}".format), VALUES, max_size=4)
ACROSS = [pair for pair in PAIRS if pair[0] != pair[1]]
PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
}


@pytest.mark.parametrize("api_format", FORMATS)
async def test_a_body_of_the_providers_own_format_arrives_as_it_was_but_for_its_model(
    start: Start, api_format: str
) -> None:
    """API-2"""
    sent = CLIENTS[api_format].body(f"text-{api_format}", of_tomorrow={"a": [1.5, None, 2**70]})
    async with both(start) as given:
        answer = await given.router.client.post(
            CLIENTS[api_format].path, content=json.dumps(sent, ensure_ascii=False).encode()
        )
        direct = given.provider.bodies[-1]
    assert answer.status_code == 200
    assert direct == {**sent, "model": "text"}
    assert list(direct) == list(sent)
    assert "x-vsr-warnings" not in answer.headers


@settings(max_examples=60, deadline=None)
@given(extra=EXTRA, number=st.integers())
@pytest.mark.parametrize("wire_format", WIRE_FORMATS)
def test_a_relayed_body_is_byte_true_but_for_its_model(
    wire_format: Any, extra: dict[str, Any], number: int
) -> None:
    """API-2: as a compact writer would have written it"""
    of = {"chat": "openai"}.get(wire_format.value, wire_format.value)
    body = {**CLIENTS[of].body("auto"), **extra, "n": number}
    written = WIRE_FORMATS[wire_format].upstream_body(body, "theirs")
    assert written == json_bytes({**body, "model": "theirs"})
    assert json.loads(written) == {**body, "model": "theirs"}


@pytest.mark.parametrize("does", ["text", "tools", "fails"])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api_format", FORMATS)
async def test_an_answer_of_the_clients_own_format_is_relayed_byte_for_byte(
    start: Start, api_format: str, stream: bool, does: str
) -> None:
    """API-2, API-3"""
    path, body = CLIENTS[api_format].path, CLIENTS[api_format].body
    async with both(start) as given:
        sent = body(f"{does}-{api_format}", stream=stream)
        routed = await given.router.client.post(path, json=sent)
        direct = await given.router.client.post(f"{given.url}{path}", json={**sent, "model": does})
    assert routed.content == direct.content
    assert routed.headers["content-type"] == direct.headers["content-type"]


@pytest.mark.parametrize(("inbound", "outbound"), ACROSS)
async def test_a_conversation_is_told_in_the_providers_format(
    start: Start, inbound: str, outbound: str
) -> None:
    """API-1"""
    async with both(start) as given:
        body = CLIENTS[inbound].body(f"text-{outbound}")
        answer = await given.router.client.post(CLIENTS[inbound].path, json=body)
        told = given.provider.bodies[-1]
    assert "x-vsr-warnings" not in answer.headers
    assert "x-vsr-untranslated" not in answer.headers
    # Read by the provider's own reader, it is what the client said.
    names = {"openai": "chat"}
    reader = WIRE_FORMATS[names.get(outbound, outbound)]  # type: ignore[index]
    read = reader.read_message(reader.read_request(told).body, {})
    assert [turn.text for turn in read.earlier] == ["Be kind."]
    assert read.text == "Hello, thére"
    assert read.counts.tool_definitions == 1
    assert told["model"] == "text"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("inbound", "outbound", "more", "names"),
    [
        ("openai", "anthropic", {"seed": 7, "logprobs": True}, '"logprobs", "seed"'),
        ("openai", "responses", {"stop": "END"}, '"stop"'),
        ("responses", "openai", {"max_tool_calls": 3}, '"max_tool_calls"'),
        ("anthropic", "openai", {"top_k": 5}, '"top_k"'),
        ("anthropic", "responses", {"container": "c", "ü": 1}, '"container", %"%c3%bc"'),
    ],
)
async def test_what_cannot_be_carried_is_named(
    start: Start, inbound: str, outbound: str, more: Any, names: str, stream: bool
) -> None:
    """API-1, API-8"""
    async with both(start) as given:
        body = CLIENTS[inbound].body(f"text-{outbound}", stream=stream, **more)
        answer = await given.router.client.post(CLIENTS[inbound].path, json=body)
    assert answer.status_code == 200
    assert answer.headers["x-vsr-warnings"] == "untranslated"
    assert answer.headers["x-vsr-untranslated"] == names


async def test_a_body_that_no_other_format_can_say_is_refused_before_any_provider(
    start: Start,
) -> None:
    """API-11"""
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": 7}]}]
    async with both(start) as given:
        body = {"model": "text-anthropic", "messages": messages}
        answer = await given.router.client.post("/v1/chat/completions", json=body)
        assert given.provider.bodies == []
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages[0].content[0].image_url"
    assert answer.headers["x-vsr-response-path"] == "error"


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in product(FORMATS, FORMATS) if pair[0] != pair[1]]
)
async def test_a_model_of_another_format_makes_good_what_one_failed(
    start: Start, first: str, second: str
) -> None:
    """API-5: the body is written for each"""

    def plan(message: Message, recipe: str) -> Outcome:
        chosen = (f"refuses-{first}", f"text-{second}")
        return Outcome(recipe, VERSION, decision="d", models=chosen, fallback=True)

    async with both(start) as given:
        given.router.services.plan_with = plan
        routed = await CLIENTS[first].ask(given.router.url, "auto", False)
        assert [body["model"] for body in given.provider.bodies] == ["refuses", "text"]
        assert routed == await CLIENTS[first].ask(given.url, "text", False)


@pytest.mark.parametrize("outbound", FORMATS)
async def test_a_clients_words_to_its_own_api_go_to_no_other(start: Start, outbound: str) -> None:
    """API-7: versions, betas and accounts of one format"""
    headers = {
        "anthropic-version": "2099-01-01",
        "anthropic-beta": "of-tomorrow",
        "openai-organization": "org",
        "x-team": "blue",
        "x-api-key": "of-the-client",
    }
    async with both(start) as given:
        body = CLIENTS["anthropic"].body(f"text-{outbound}")
        await given.router.client.post("/v1/messages", json=body, headers=headers)
        sent = given.provider.headers[-1]
    if outbound == "anthropic":
        assert (sent["anthropic-version"], sent["anthropic-beta"]) == ("2099-01-01", "of-tomorrow")
    else:
        assert not {"anthropic-version", "anthropic-beta", "openai-organization"} & sent.keys()
    assert sent["x-team"] == "blue"
    assert "x-api-key" not in sent


async def test_a_body_that_the_router_writes_says_which_version_it_is_of(start: Start) -> None:
    """API-1"""
    async with both(start) as given:
        body = CLIENTS["openai"].body("text-anthropic")
        await given.router.client.post("/v1/chat/completions", json=body)
        assert given.provider.headers[-1]["anthropic-version"] == "2023-06-01"
        body = CLIENTS["anthropic"].body("text-anthropic")
        await given.router.client.post("/v1/messages", json=body)
        assert given.provider.headers[-1]["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("sk-ant-api03-x", {"x-api-key": "sk-ant-api03-x"}),
        ("sk-ant-oat01-x", {"authorization": "Bearer sk-ant-oat01-x"}),
        ("local", {"x-api-key": "local", "authorization": "Bearer local"}),
    ],
)
async def test_the_key_stands_where_its_kind_is_looked_for(
    start: Start, key: str, sent: dict[str, str]
) -> None:
    """CFG-2"""
    async with both(start) as given:
        backend = {"base_url": f"{given.url}/v1", "api_key_env": "KEY"}
        spoken = {"name": "text", "api_format": "anthropic", "backends": [backend]}
        async with start(document(spoken), {"KEY": key}) as router:
            await router.client.post("/v1/messages", json=CLIENTS["anthropic"].body("text"))
        headers = given.provider.headers[-1]
    assert {n: headers[n] for n in ("x-api-key", "authorization") if n in headers} == sent
