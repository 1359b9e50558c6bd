"""A stream of one format while it comes, for a client of another (API-3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.doubles.format_clients import CLIENTS
from tests.doubles.polyglot import TEXT
from tests.doubles.polyglot_answers import CHAT
from tests.doubles.servers import running
from tests.serve_app.deployments.api.conftest import Start, document, model
from tests.serve_app.deployments.api.test_formats import PAIRS, both


@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_the_first_words_pass_at_once_and_comments_pass_the_time(
    start: Start, inbound: str, outbound: str
) -> None:
    """API-3: the provider waits until its client has left, and says nothing more"""
    body = CLIENTS[inbound].body(f"waits-{outbound}", stream=True)
    async with both(start) as given:
        async with given.router.client.stream("POST", CLIENTS[inbound].path, json=body) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            came = b""
            async for chunk in answer.aiter_raw():
                came += chunk
                words, _, after = came.partition(b"Hel")
                if words != came and after.count(b"\n:") > 1:
                    break
        await asyncio.wait_for(given.provider.left.wait(), 30)


@pytest.mark.parametrize("inbound", CLIENTS)
async def test_a_client_that_leaves_before_a_whole_answer_ends_the_providers_call(
    start: Start, inbound: str
) -> None:
    """API-3, BUD-4: of a provider that streams though nobody asked"""
    reached, left = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b": wait\n\n"
                reached.set()
                await asyncio.sleep(0.02)
        finally:
            left.set()

    async def complete(request: Request) -> Response:
        return StreamingResponse(slow(), media_type="text/event-stream")

    body = CLIENTS[inbound].body("general")
    async with served(complete) as url, start(document(speaking("general", url))) as router:
        async with httpx.AsyncClient(base_url=router.url) as client:
            task = asyncio.create_task(client.post(CLIENTS[inbound].path, json=body))
            await asyncio.wait_for(reached.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await asyncio.wait_for(left.wait(), 30)


@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_a_stream_that_outlasts_the_requests_deadline_ends_in_the_formats_error(
    start: Start, inbound: str, outbound: str
) -> None:
    """BUD-3"""
    body = CLIENTS[inbound].body(f"waits-{outbound}", stream=True)
    headers = {"x-vsr-timeout-seconds": "0.4"}
    async with both(start) as given:
        answer = await given.router.client.post(CLIENTS[inbound].path, json=body, headers=headers)
        await asyncio.wait_for(given.provider.left.wait(), 30)
    assert b"Hel" in answer.content
    last = [line for line in answer.content.splitlines() if line.startswith(b"data:")][-1]
    assert b"the request's own deadline passed" in last
    assert any(word in last for word in (b'"error"', b'"response.failed"'))


@pytest.mark.parametrize("inbound", ["responses", "anthropic"])
@pytest.mark.parametrize(("asked", "given"), [(True, False), (False, True)])
async def test_an_answer_comes_as_the_client_asked_whichever_the_provider_chose(
    start: Start, inbound: str, asked: bool, given: bool
) -> None:
    """API-1"""

    async def complete(request: Request) -> Response:
        body = {**await request.json(), "stream_options": {"include_usage": True}}
        if given:
            stream = each(list(CHAT.stream(body, TEXT)))
            return StreamingResponse(stream, media_type="text/event-stream")
        return JSONResponse(CHAT.whole(body, TEXT))

    async with served(complete) as url, start(document(speaking("text", url))) as router:
        routed = await CLIENTS[inbound].ask(router.url, "text", asked)
    async with both(start) as direct:
        assert routed == await CLIENTS[inbound].ask(direct.url, "text", asked)


@pytest.mark.parametrize("inbound", ["responses", "anthropic"])
@pytest.mark.parametrize(
    "answer", [b"<html>", b"[]", b"{}", b'{"choices":[{"message":7}]}', b'{"choices":' + b"[" * 99]
)
async def test_what_is_no_answer_is_a_failure_of_the_provider(
    start: Start, inbound: str, answer: bytes
) -> None:
    """API-1, API-11"""

    async def complete(request: Request) -> Response:
        return Response(answer, media_type="application/json")

    body = CLIENTS[inbound].body("general")
    async with served(complete) as url, start(document(speaking("general", url))) as router:
        failed = await router.client.post(CLIENTS[inbound].path, json=body)
    assert failed.status_code == 502
    assert failed.json()["error"]["type"] in ("server_error", "api_error")
    assert failed.headers["x-vsr-response-path"] == "error"
    assert failed.headers["x-vsr-selected-model"] == "general"


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("inbound", ["responses", "anthropic"])
async def test_an_answer_that_cannot_be_unpacked_is_a_failure_of_the_provider(
    start: Start, inbound: str, kind: str
) -> None:
    """API-1, API-5"""

    async def complete(request: Request) -> Response:
        headers = {"content-type": kind, "content-encoding": "gzip"}
        return Response(b"no gzip at all", headers=headers)

    body = CLIENTS[inbound].body("general", stream=True)
    async with served(complete) as url, start(document(speaking("general", url))) as router:
        failed = await router.client.post(CLIENTS[inbound].path, json=body)
    assert failed.status_code == 502
    assert "encoding" in failed.json()["error"]["message"]


@pytest.mark.parametrize(("code", "status"), [(429, 429), ("oops", 502)])
async def test_a_failure_in_place_of_an_answer_has_its_own_status(
    start: Start, code: Any, status: int
) -> None:
    """API-5: some servers answer 200 and tell of an error"""

    async def complete(request: Request) -> Response:
        return JSONResponse({"error": {"message": "busy", "code": code}})

    body = CLIENTS["anthropic"].body("general")
    async with served(complete) as url, start(document(speaking("general", url))) as router:
        failed = await router.client.post("/v1/messages", json=body)
    assert failed.status_code == status
    assert failed.json()["error"]["message"] == "busy"
    assert failed.json()["type"] == "error"


def speaking(name: str, url: str, api_format: str = "openai") -> dict[str, Any]:
    return {**model(name, f"{url}/v1"), "api_format": api_format}


def served(complete: Any) -> Any:
    return running(Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])]))


async def each(events: list[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event
