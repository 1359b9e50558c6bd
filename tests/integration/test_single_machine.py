"""SRV-3, SRV-4: `make serve`'s command, on the shipped Serve config with a small graph."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.integration.shipped import Running, beyond_loopback, shipped

pytestmark = pytest.mark.serve


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with shipped(application="tests.doubles.two_hops:build", ready="/process") as router:
        yield router


def test_nothing_listens_beyond_loopback(running: Running) -> None:
    assert beyond_loopback(running) == []


def test_the_shipped_config_reaches_the_replicas(running: Running) -> None:
    process = httpx.get(f"{running.url}/process").json()
    assert process["profile"] == {
        "grpc": True,
        "own_loop": False,
        "haproxy": True,
        "message_bytes": 64 * 1024 * 1024,
    }
    assert process["threads"] == "1"


def test_a_process_without_a_model_does_not_import_torch(running: Running) -> None:
    assert httpx.get(f"{running.url}/process").json()["torch"] is False


def test_a_message_above_grpcs_default_crosses_the_graph(running: Running) -> None:
    text = "x" * (8 * 1024 * 1024)
    answer = httpx.post(f"{running.url}/length", content=text, timeout=30)
    assert answer.json() == len(text)


def test_replicas_count_into_one_place(running: Running) -> None:
    """API-12: each call is counted once in either process."""
    before = httpx.get(f"{running.url}/calls").json()
    for _ in range(3):
        httpx.post(f"{running.url}/length", content="x")
    assert httpx.get(f"{running.url}/calls").json() - before == 2 * 3
