"""Bad input: the status and body that each format promises, never a 5xx (S1-9, API-6, API-11)."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from backports import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.doubles.json_values import JSON, QUESTIONS
from tests.serve_app.deployments.api.conftest import Router

SYSTEMONE = "/v1/systemone"
CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
PREVIEW = "/api/v1/routing/preview"
MIB = 1024 * 1024

NOUL = {"type": "noul", "instructions": "Is it?"}
GOOD = {
    SYSTEMONE: {"model": "jev-latest", "state": "x", "questions": {"q": NOUL}},
    CHAT: {"model": "auto", "messages": [{"role": "user", "content": "hello"}]},
    RESPONSES: {"model": "auto", "input": "hello"},
    MESSAGES: {
        "model": "auto",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hello"}],
    },
    COUNT: {"model": "auto", "messages": [{"role": "user", "content": "hello"}]},
    PREVIEW: {"text": "hello"},
}


def asking(**question: Any) -> bytes:
    return orjson.dumps({**GOOD[SYSTEMONE], "questions": {"q": question}})


def nested(levels: int, body: dict[str, Any]) -> bytes:
    return (
        orjson.dumps(body)[:-1]
        + b',"x":'
        + b'{"a":[' * (levels // 2)
        + b"]}" * (levels // 2)
        + b"}"
    )


def of_size(size: int, body: dict[str, Any]) -> bytes:
    start = orjson.dumps(body)[:-1] + b',"x":"'
    return start + b"a" * (size - len(start) - 2) + b'"}'


BAD: dict[str, tuple[bytes, dict[str, str], int, int]] = {
    # name: body, headers, status on System One, status on Chat
    "empty": (b"", {}, 422, 400),
    "blank": (b" \n", {}, 422, 400),
    "malformed": (b'{"model": ', {}, 422, 400),
    "not an object": (b"[1, 2]", {}, 422, 400),
    "null": (b"null", {}, 422, 400),
    "no JSON text": (b"model=auto", {}, 422, 400),
    "NaN": (b'{"model":"auto","x":NaN}', {}, 422, 400),
    "infinite": (b'{"model":"auto","x":-Infinity}', {}, 422, 400),
    "beyond a double": (b'{"model":"auto","x":1e999}', {}, 422, 400),
    "no UTF-8": (b'{"model":"\xff\xfe"}', {}, 422, 400),
    "UTF-16": ('{"model":"auto"}'.encode("utf-16"), {}, 422, 400),
    "lone surrogate": (b'{"model":"\\ud800"}', {}, 422, 400),
    "no model": (b'{"messages":[{"role":"user","content":"x"}]}', {}, 422, 400),
    "model is no name": (b'{"model":7,"messages":[],"questions":{}}', {}, 422, 400),
    "200 levels": (nested(200, GOOD[SYSTEMONE]), {}, 422, 400),
    "20,000 levels": (nested(20_000, GOOD[SYSTEMONE]), {}, 422, 400),
    "never closed": (b"[" * 100_000, {}, 422, 400),
    "20 MB": (of_size(20_000_000, GOOD[SYSTEMONE]), {}, 413, 413),
    "gzip": (b"\x1f\x8b", {"content-encoding": "gzip"}, 422, 400),
    "encoding nobody knows": (b"{}", {"content-encoding": "x" * 99}, 422, 400),
    "zstd in name alone": (b'{"model":"auto"}', {"content-encoding": "zstd"}, 422, 400),
    "zstd cut short": (zstd.compress(b"x" * 99)[:-4], {"content-encoding": "zstd"}, 422, 400),
    "zstd twice": (zstd.compress(b"{}") * 2, {"content-encoding": "zstd"}, 422, 400),
    "zstd bomb": (zstd.compress(b" " * 400 * MIB), {"content-encoding": "zstd"}, 413, 413),
    "no deadline": (b"{}", {"x-vsr-timeout-seconds": "soon"}, 422, 400),
    "negative deadline": (b"{}", {"x-vsr-timeout-seconds": "-1"}, 422, 400),
}

BAD_SYSTEMONE: dict[str, tuple[bytes, int]] = {
    "no state": (orjson.dumps({"model": "jev-latest", "questions": {"q": NOUL}}), 422),
    "state null": (orjson.dumps({**GOOD[SYSTEMONE], "state": None}), 422),
    "no questions": (orjson.dumps({"model": "jev-latest", "state": "x"}), 422),
    "empty questions": (orjson.dumps({**GOOD[SYSTEMONE], "questions": {}}), 422),
    "empty id": (orjson.dumps({**GOOD[SYSTEMONE], "questions": {"": NOUL}}), 422),
    "300 options": (asking(type="choice", criteria=[str(i) for i in range(300)]), 422),
    "11 levels": (asking(type="score", criteria=[str(i) for i in range(11)]), 422),
    "score as a map": (asking(type="score", criteria={"a": "b", "c": "d"}), 422),
    "choice without options": (asking(type="choice"), 422),
    "no type": (asking(instructions="Is it?"), 422),
    "unknown type": (asking(type="boolean"), 422),
    "unknown model": (orjson.dumps({**GOOD[SYSTEMONE], "model": "m" * 300}), 400),
    "states and state": (orjson.dumps({**GOOD[SYSTEMONE], "states": {"1": {}}}), 422),
    "no deadline": (orjson.dumps({**GOOD[SYSTEMONE], "options": {"deadline_ms": 0}}), 422),
}

BAD_CHAT: dict[str, tuple[Any, str]] = {
    "no messages": ({"model": "auto"}, "messages"),
    "empty messages": ({"model": "auto", "messages": []}, "messages"),
    "messages no list": ({"model": "auto", "messages": {"role": "user"}}, "messages"),
    "message no object": ({"model": "auto", "messages": ["hello"]}, "messages[0]"),
    "no role": ({"model": "auto", "messages": [{"content": "x"}]}, "messages[0].role"),
    "unknown role": ({"model": "auto", "messages": [{"role": "root"}]}, "messages[0].role"),
    "content a number": (
        {"model": "auto", "messages": [{"role": "user", "content": 7}]},
        "messages[0].content",
    ),
    "part no object": (
        {"model": "auto", "messages": [{"role": "user", "content": ["x"]}]},
        "messages[0].content[0]",
    ),
    "stream no flag": ({**GOOD[CHAT], "stream": "yes"}, "stream"),
    "model empty": ({**GOOD[CHAT], "model": ""}, "model"),
}


async def answers_a_plain_request(router: Router, path: str) -> None:
    assert (await router.client.post(path, json=GOOD[path])).status_code == 200


def check_systemone(status: int, body: Any) -> None:
    if status == 422:
        assert body["detail"]
        for problem in body["detail"]:
            assert problem["loc"][0] in ("body", "header")
            assert problem["msg"]
            assert problem["type"]
    else:
        assert body["detail"]["error_type"]
        assert body["detail"]["message"]


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_body_is_refused_in_the_clients_format(router: Router, name: str) -> None:
    """S1-9, API-6, API-11"""
    body, headers, systemone, chat = BAD[name]
    for path in GOOD:
        answer = await router.client.post(path, content=body, headers=headers)
        assert answer.headers["x-typesafe-request-id"] == answer.headers["x-vsr-request-id"]
        assert answer.headers["x-vsr-response-path"] == "error"
        assert len(answer.content) < 4096
        if path == SYSTEMONE:
            assert answer.status_code == systemone
            check_systemone(systemone, answer.json())
        else:
            assert answer.status_code == chat
            too_large = path in (MESSAGES, COUNT) and chat == 413
            kind = "request_too_large" if too_large else "invalid_request_error"
            assert answer.json()["error"]["type"] == kind
        await answers_a_plain_request(router, path)


@pytest.mark.parametrize("name", BAD_SYSTEMONE)
async def test_a_bad_call_is_refused_with_where_it_is_wrong(router: Router, name: str) -> None:
    """S1-9, S1-12, LIM-1"""
    body, status = BAD_SYSTEMONE[name]
    answer = await router.client.post(SYSTEMONE, content=body)
    assert answer.status_code == status
    check_systemone(status, answer.json())
    assert "m" * 65 not in answer.text
    assert router.services.asked == []
    await answers_a_plain_request(router, SYSTEMONE)


@pytest.mark.parametrize("name", BAD_CHAT)
async def test_a_bad_chat_body_is_refused_with_the_field_that_is_wrong(
    router: Router, name: str
) -> None:
    """API-11"""
    body, param = BAD_CHAT[name]
    for path in (CHAT, PREVIEW):
        answer = await router.client.post(path, json=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == param
    assert router.services.planned == []


@pytest.mark.parametrize(
    "body", [{"text": 7}, {"text": "x", "model": ""}, {"text": "x", "model": 1}]
)
async def test_a_bad_text_body_of_a_preview_is_refused(router: Router, body: Any) -> None:
    """API-9"""
    assert (await router.client.post(PREVIEW, json=body)).status_code == 400


async def test_64_levels_pass_and_65_do_not(router: Router) -> None:
    """API-6"""
    for levels, status in ((63, 200), (64, 422)):
        body = {**GOOD[SYSTEMONE], "x": orjson.loads(b"[" * levels + b"]" * levels)}
        assert (await router.client.post(SYSTEMONE, json=body)).status_code == status


async def test_a_body_of_exactly_the_cap_is_read_and_one_byte_more_is_not(router: Router) -> None:
    """API-6"""
    for size, status in ((8 * MIB, 200), (8 * MIB + 1, 413)):
        body = of_size(size, GOOD[SYSTEMONE])
        assert len(body) == size
        assert (await router.client.post(SYSTEMONE, content=body)).status_code == status
        packed = {"content": zstd.compress(body), "headers": {"content-encoding": "zstd"}}
        assert (await router.client.post(SYSTEMONE, **packed)).status_code == status


async def test_a_body_without_a_declared_length_is_bounded_too(router: Router) -> None:
    """API-6"""

    async def pieces(count: int) -> Any:
        for _ in range(count):
            yield b" " * MIB

    answer = await router.client.post(CHAT, content=pieces(9))
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "request_too_large"
    await answers_a_plain_request(router, CHAT)


async def test_no_json_is_ever_a_5xx(router: Router) -> None:
    """S1-9, API-11"""
    bodies: list[Any] = []
    objects = st.dictionaries(
        st.sampled_from(
            [
                *("model", "messages", "state", "states", "questions", "options", "text", "stream"),
                *("input", "instructions", "system", "tools", "tool_choice", "max_tokens", "x"),
            ]
        ),
        JSON
        | st.sampled_from(["auto", "jev-latest", 9])
        | st.dictionaries(st.text(max_size=4), QUESTIONS, max_size=3)
        | st.lists(
            st.fixed_dictionaries(
                {"role": st.sampled_from(["user", "tool"])},
                optional={"content": JSON, "tool_calls": JSON},
            )
        ),
    )

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(objects | JSON)
    def collect(body: Any) -> None:
        bodies.append(body)

    collect()
    for body in bodies:
        sent = json.dumps(body).encode("utf-8")
        for path in GOOD:
            answer = await router.client.post(path, content=sent)
            assert answer.status_code < 500, (path, body)
            assert answer.json() is not None
    for path in GOOD:
        await answers_a_plain_request(router, path)
