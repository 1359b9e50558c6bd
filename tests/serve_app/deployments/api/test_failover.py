"""Which failures are made good, by whom, and what the client sees if none is (API-5)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from serve_app.message import Message
from serve_app.outcome import Outcome
from tests.doubles.scripted_services import VERSION
from tests.doubles.servers import running
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

BODY = {"model": "auto", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def closed() -> str:
    """A base URL where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


@pytest.fixture
async def odd() -> AsyncIterator[str]:
    """A provider that answers with what is in no API's format."""

    async def complete(request: Request) -> Response:
        name = (await request.json())["model"]
        if name == "redirects":
            return RedirectResponse("http://127.0.0.1:9/elsewhere")
        return PlainTextResponse("<html>Bad gateway</html>", 502)

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    async with running(app) as url:
        yield f"{url}/v1"


def both(fallback: bool) -> Any:
    def plan(message: Message, recipe: str) -> Outcome:
        return Outcome(recipe, VERSION, decision="d", models=("first", "second"), fallback=fallback)

    return plan


async def ask(router: Router, **more: Any) -> httpx.Response:
    return await router.client.post("/v1/chat/completions", json={**BODY, **more})


async def calls(echo: str, name: str) -> int:
    async with httpx.AsyncClient() as client:
        return len((await client.get(f"{echo[:-3]}/asked/{name}")).json())


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_a_dead_backend_is_made_good_by_the_models_next(
    start: Start, echo: str, closed: str, stream: bool
) -> None:
    """API-5"""
    backends = [{"base_url": closed, "weight": 1e9}, {"base_url": echo, "weight": 1e-9}]
    first = {"name": "general", "backends": backends}
    async with start(document(first)) as router:
        answer = await ask(router, stream=stream)
    assert answer.status_code == 200
    assert "hello" in answer.text


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("fallback", [True, False])
async def test_a_failing_model_hands_over_only_if_the_decision_says_so(
    start: Start, echo: str, status: int, fallback: bool
) -> None:
    """API-5"""
    first = model("first", echo, id=f"fails-{status}-{fallback}?status={status}")
    async with start(document(first, model("second", echo))) as router:
        router.services.plan_with = both(fallback)
        answer = await ask(router)
    if fallback:
        assert answer.status_code == 200
        assert answer.headers["x-vsr-selected-model"] == "second"
        assert answer.json()["choices"][0]["message"]["content"] == "[second] hello"
    else:
        assert answer.status_code == status
        assert answer.json()["error"]["code"] == "echo_failure"
        assert answer.headers["retry-after"] == "1"
        assert answer.headers["x-vsr-selected-model"] == "first"


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_an_error_that_another_backend_would_repeat_is_not_asked_again(
    start: Start, echo: str, status: int
) -> None:
    """API-5"""
    name = f"refuses-{status}"
    first = model("first", echo, echo, id=f"{name}?status={status}")
    async with start(document(first, model("second", echo))) as router:
        router.services.plan_with = both(fallback=True)
        answer = await ask(router)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == "echo_failure"
    assert await calls(echo, name) == 1


async def test_each_backend_is_tried_once_and_their_number_is_bounded(
    start: Start, echo: str
) -> None:
    """API-5"""
    five = model("general", *[echo] * 5, id="counted?status=503")
    async with start(document(five)) as router:
        answer = await ask(router)
    assert answer.status_code == 503
    assert await calls(echo, "counted") == 3


async def test_nothing_is_asked_again_once_an_answer_has_begun(start: Start, echo: str) -> None:
    """API-5"""
    first = model("first", echo, echo, id="begun?die_after=1")
    async with start(document(first, model("second", echo))) as router:
        router.services.plan_with = both(fallback=True)
        answer = await ask(router, stream=True)
    assert answer.status_code == 200
    assert b'"code":"provider_failed"' in answer.content
    assert await calls(echo, "begun") == 1
    assert b"[second]" not in answer.content


async def test_a_stream_that_dies_before_its_first_byte_is_made_good(
    start: Start, echo: str
) -> None:
    """API-5"""
    first = model("first", echo, id="stillborn?die_after=0")
    async with start(document(first, model("second", echo))) as router:
        router.services.plan_with = both(fallback=True)
        answer = await ask(router, stream=True)
    assert answer.headers["x-vsr-selected-model"] == "second"
    assert b"[second]" in answer.content


async def test_a_provider_that_cannot_be_reached_is_a_502(start: Start, closed: str) -> None:
    """API-11"""
    async with start(document(model("general", closed))) as router:
        answer = await ask(router)
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "provider_failed"
    assert answer.headers["x-vsr-response-path"] == "error"
    assert answer.headers["x-vsr-selected-decision"] == "everything"
    assert answer.headers["x-vsr-selected-model"] == "general"


async def test_a_failure_names_the_model_last_tried(start: Start, closed: str) -> None:
    """HDR-1, API-8"""
    async with start(document(model("first", closed), model("second", closed))) as router:
        router.services.plan_with = both(fallback=True)
        answer = await ask(router)
    assert answer.status_code == 502
    assert answer.headers["x-vsr-selected-model"] == "second"


async def test_what_a_provider_said_outlives_later_silence(
    start: Start, echo: str, closed: str
) -> None:
    """API-5: the last error that a provider gave, in spite of a later one that gave none"""
    first = model("first", echo, id="spoke?status=503")
    async with start(document(first, model("second", closed))) as router:
        router.services.plan_with = both(fallback=True)
        answer = await ask(router)
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "echo_failure"
    assert answer.headers["x-vsr-selected-model"] == "first"


@pytest.mark.parametrize("name", ["redirects", "html"])
async def test_an_error_in_no_format_arrives_in_the_clients(
    start: Start, odd: str, name: str
) -> None:
    """API-1, API-5: a redirect is not followed, and no error page is relayed"""
    async with start(document(model("general", odd, id=name))) as router:
        answer = await ask(router)
    assert answer.status_code == 502
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["code"] == "provider_failed"
    assert "location" not in answer.headers


async def test_a_deadline_that_passes_before_an_answer_is_a_504(start: Start, echo: str) -> None:
    """BUD-3"""
    async with start(document(model("general", echo, id="slow?hold=slow"))) as router:
        answer = await router.client.post(
            "/v1/chat/completions", json=BODY, headers={"x-vsr-timeout-seconds": "0.2"}
        )
    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "deadline_exceeded"
    assert answer.headers["x-vsr-selected-model"] == "general"


@pytest.mark.parametrize("size", [0, 65_535, 65_536])
async def test_bytes_behind_one_clients_answer_are_not_the_next_clients(
    start: Start, size: int
) -> None:
    """API-3, law 1: a provider, or a proxy before it, that answers once too often"""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    own = b'{"of": "own"}'.ljust(max(13, size - len(head % size)))
    surplus = b'{"of": "surplus"}'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        length = int(asked.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        writer.write(head % len(own) + own + head % len(surplus) + surplus)
        await writer.drain()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with start(document(model("general", url, url))) as router:
        answers = [await ask(router) for _ in range(4)]
    server.close()
    said = [answer.json().get("of") for answer in answers]
    assert said[0] == "own"
    assert "surplus" not in said
