"""What happens while a stream runs, shown by the order of events at the provider (API-3)."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from tests.serve_app.deployments.api.conftest import Router, Start, document, model

HELLO: list[Any] = [{"role": "user", "content": "one two three"}]


def body(**more: Any) -> dict[str, Any]:
    return {"model": "auto", "messages": HELLO, **more}


async def reached(echo: str, name: str) -> None:
    """Returns when the provider has been asked."""
    async with httpx.AsyncClient(timeout=30) as client:
        await client.get(f"{echo[:-3]}/asked/{name}", params={"wait": "asked"})


async def ended(echo: str, name: str) -> str:
    """How the call to the provider ended, once it has."""
    async with httpx.AsyncClient(timeout=30) as client:
        calls = await client.get(f"{echo[:-3]}/asked/{name}", params={"wait": "ended"})
    return calls.json()[-1]["how"]


async def test_the_first_token_comes_before_the_provider_makes_the_second(
    start: Start, echo: str
) -> None:
    """API-3"""
    async with start(document(model("general", echo, id="echo-first?hold=first"))) as router:
        stream = router.client.stream("POST", "/v1/chat/completions", json=body(stream=True))
        async with stream as answer:
            chunks = answer.aiter_raw()
            first = await anext(chunks)
            assert b"[echo-first]" in first
            assert b"one" not in first
            # The provider waits at its gate until this line: it cannot have finished.
            await router.client.post(f"{echo[:-3]}/gates/first")
            rest = b"".join([chunk async for chunk in chunks])
    assert rest.endswith(b"data: [DONE]\n\n")
    assert await ended(echo, "echo-first") == "done"


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_a_client_that_leaves_cancels_the_providers_call(
    start: Start, echo: str, stream: bool
) -> None:
    """API-3, BUD-4"""
    name = f"echo-left-{stream}"
    async with start(document(model("general", echo, id=f"{name}?hold=never"))) as router:
        async with httpx.AsyncClient(base_url=router.url) as client:
            call = client.stream("POST", "/v1/chat/completions", json=body(stream=stream))
            if stream:
                async with call as answer:
                    await anext(answer.aiter_raw())
            else:
                task = asyncio.create_task(call.__aenter__())
                await reached(echo, name)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
        assert await ended(echo, name) == "left"


async def test_a_client_that_leaves_while_the_request_is_planned_cancels_the_planning(
    router: Router,
) -> None:
    """BUD-4"""
    router.services.hold = asyncio.Event()
    async with httpx.AsyncClient(base_url=router.url) as client:
        task = asyncio.create_task(client.post("/v1/chat/completions", json=body()))
        await router.services.entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await asyncio.wait_for(router.services.cancelled.wait(), 30)


async def test_a_provider_that_breaks_off_ends_the_stream_in_an_error_event(
    start: Start, echo: str
) -> None:
    """API-3"""
    async with start(document(model("general", echo, id="echo-dies?die_after=2"))) as router:
        sdk = AsyncOpenAI(base_url=f"{router.url}/v1", api_key="-", max_retries=0)
        stream = await sdk.chat.completions.create(model="auto", messages=HELLO, stream=True)
        words = [(await anext(stream)).choices[0].delta.content for _ in range(2)]
        with pytest.raises(openai.APIError) as caught:
            await anext(stream)
    assert words == ["[echo-dies]", " one"]
    assert caught.value.code == "provider_failed"


async def test_a_silent_provider_ends_the_stream_in_an_error_event(start: Start, echo: str) -> None:
    """API-3; ``timeout_ms`` bounds the longest silence"""
    config = document(model("general", echo, id="echo-silent?hold=silence", timeout_ms=200))
    async with start(config) as router:
        answer = await router.client.post("/v1/chat/completions", json=body(stream=True))
    assert b"[echo-silent]" in answer.content
    assert b'"code":"provider_failed"' in answer.content.splitlines()[-2]
    assert await ended(echo, "echo-silent") == "left"


async def test_a_stream_that_outlasts_the_requests_deadline_ends_in_an_error_event(
    start: Start, echo: str
) -> None:
    """BUD-3"""
    async with start(document(model("general", echo, id="echo-late?hold=late"))) as router:
        answer = await router.client.post(
            "/v1/chat/completions",
            json=body(stream=True),
            headers={"x-vsr-timeout-seconds": "0.5"},
        )
    assert b"[echo-late]" in answer.content
    assert b'"code":"deadline_exceeded"' in answer.content.splitlines()[-2]
    assert await ended(echo, "echo-late") == "left"
