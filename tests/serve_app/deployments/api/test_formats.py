"""Every format in, every format out: what a client's SDK reads through the router is what it reads
at a provider of its own format."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import anthropic
import openai
import pytest

from tests.doubles.format_clients import CLIENTS
from tests.doubles.polyglot import Provider
from tests.doubles.servers import running
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

DOES = ("text", "tools", "refuses", "fails", "breaks", "pieces", "gzip")
FORMATS = tuple(CLIENTS)
PAIRS = list(product(FORMATS, FORMATS))


def models(url: str) -> list[dict[str, Any]]:
    """A model for each thing that the provider does, in each format."""
    return [
        {
            "name": f"{does}-{api_format}",
            "provider_model_id": does,
            "api_format": api_format,
            "backends": [{"base_url": f"{url}/v1"}],
        }
        for does, api_format in product((*DOES, "waits"), FORMATS)
    ]


@dataclass
class Both:
    """The router, and the provider behind it."""

    router: Router
    url: str
    provider: Provider


@asynccontextmanager
async def both(start: Start) -> AsyncIterator[Both]:
    provider = Provider()
    async with running(provider.app) as url, start(document(*models(url))) as router:
        yield Both(router, url, provider)


@pytest.mark.parametrize("does", ["text", "tools"])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_an_answer_is_what_the_clients_own_format_would_have_said(
    start: Start, inbound: str, outbound: str, stream: bool, does: str
) -> None:
    """API-1, API-3: text, tool arguments, usage and stop reasons"""
    async with both(start) as given:
        ask = CLIENTS[inbound].ask
        direct = await ask(given.url, does, stream)
        routed = await ask(given.router.url, f"{does}-{outbound}", stream)
    assert routed == direct


@pytest.mark.parametrize("does", ["pieces", "gzip"])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(("inbound", "outbound"), [p for p in PAIRS if p[0] != p[1]])
async def test_how_a_provider_sends_its_answer_changes_nothing(
    start: Start, inbound: str, outbound: str, stream: bool, does: str
) -> None:
    """API-1: a byte at a time, or compressed though nobody asked"""
    async with both(start) as given:
        ask = CLIENTS[inbound].ask
        direct = await ask(given.url, does, stream)
        routed = await ask(given.router.url, f"{does}-{outbound}", stream)
        assert given.provider.headers[-1]["accept-encoding"] == "identity"
    assert routed == direct


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_a_providers_error_comes_with_its_status_in_the_clients_format(
    start: Start, inbound: str, outbound: str, stream: bool
) -> None:
    """API-1, API-5, API-11"""
    raised = anthropic.RateLimitError if inbound == "anthropic" else openai.RateLimitError
    async with both(start) as given:
        with pytest.raises(raised, match="slow down") as caught:
            await CLIENTS[inbound].ask(given.router.url, f"refuses-{outbound}", stream)
        body = CLIENTS[inbound].body(f"refuses-{outbound}", stream=stream)
        answer = await given.router.client.post(CLIENTS[inbound].path, json=body)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "7"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-vsr-selected-model"] == f"refuses-{outbound}"
    error = answer.json()["error"]
    assert (error["type"], error["message"]) == ("rate_limit_error", "slow down")
    assert ("type" in answer.json()) == (inbound == "anthropic")
    assert caught.value.status_code == 429


@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_an_error_in_mid_stream_ends_it_in_the_formats_own_error_event(
    start: Start, inbound: str, outbound: str
) -> None:
    """API-3"""
    async with both(start) as given:
        direct = await CLIENTS[inbound].ask(given.url, "fails", True)
        routed = await CLIENTS[inbound].ask(given.router.url, f"fails-{outbound}", True)
    assert routed == direct
    assert routed[-1].get("failed") == "it broke"


@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_a_provider_that_breaks_off_does_so_too(
    start: Start, inbound: str, outbound: str
) -> None:
    """API-3"""
    async with both(start) as given:
        fails = await CLIENTS[inbound].ask(given.url, "fails", True)
        routed = await CLIENTS[inbound].ask(given.router.url, f"breaks-{outbound}", True)
    said = repr(routed[:-1]).replace("'breaks'", "'fails'")
    assert said == repr(fails[:-1])
    assert routed[-1].get("failed") == "the provider broke off its answer"


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(("inbound", "outbound"), PAIRS)
async def test_a_providers_process_is_heard_in_every_format(
    start: Start, echo: str, inbound: str, outbound: str, stream: bool
) -> None:
    """API-1: the provider of the examples"""
    spoken = {**model("general", echo, id="echo-formats"), "api_format": outbound}
    async with start(document(spoken)) as router:
        direct = await CLIENTS[inbound].ask(echo.removesuffix("/v1"), "echo-formats", stream)
        routed = await CLIENTS[inbound].ask(router.url, "auto", stream)
    assert "[echo-formats] Hello, thére" in repr(routed)
    assert routed == direct
