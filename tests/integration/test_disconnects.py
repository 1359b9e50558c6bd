"""A client that leaves takes its questions out of the model's queue, whichever entrance it took,
with HAProxy before the router and without. BUD-4
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from serve_app.app import RouterArgs
from tests.integration.conftest import started_ray
from tests.integration.shipped import free_ports, shipped
from tests.integration.steered_router import build

pytestmark = [pytest.mark.serve, pytest.mark.timeout(240)]

QUESTION = {"type": "noul", "instructions": "Is it about ships?"}
CONFIG = {
    "version": "v1",
    "providers": {
        "models": [{"name": "general", "backends": [{"base_url": "http://127.0.0.1:9/v1"}]}]
    },
    "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
    "recipes": [
        {
            "name": "default",
            "signals": {"systemone": [{"name": "ships", "question": QUESTION}]},
            "decisions": [
                {
                    "name": "about-ships",
                    "rules": {"conditions": [{"type": "systemone", "name": "ships"}]},
                    "modelRefs": [{"model": "general"}],
                },
                {"name": "rest", "modelRefs": [{"model": "general"}]},
            ],
        }
    ],
}
PATHS: dict[str, Callable[[str], dict[str, Any]]] = {
    "/v1/systemone": lambda text: {
        "model": "primary",
        "state": text,
        "questions": {"q": QUESTION},
    },
    "/api/v1/routing/preview": lambda text: {"text": text},
    "/v1/chat/completions": lambda text: {
        "model": "auto",
        "messages": [{"role": "user", "content": text}],
    },
}
KNOWN = "known"
texts = (f"text {number}" for number in count())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the engine is steered, with the configuration."""
    folder = tmp_path_factory.mktemp("steered")
    (folder / "router.yaml").write_text(yaml.safe_dump(CONFIG))
    return folder


@pytest.fixture(scope="module", params=["haproxy", "serve's proxy"])
def url(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """The shipped profile: HAProxy and gRPC; or Serve's own: its proxy, calls by reference."""
    config = folder / "router.yaml"
    if request.param == "haproxy":
        application = "tests.integration.steered_router:build"
        with shipped(application=application, config=str(config), ready="/ready") as running:
            yield running.url
        return
    from ray import serve

    (port,) = free_ports(1)
    with started_ray(http_options={"host": "127.0.0.1", "port": port}, proxy_location="HeadOnly"):
        serve.run(build(RouterArgs(config=config)), name="router", route_prefix="/")
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def shut(url: str, folder: Path) -> Iterator[None]:
    """Forwards go on until the test ends; ``KNOWN`` is answered by the cache."""
    httpx.post(f"{url}/v1/systemone", json=PATHS["/v1/systemone"](KNOWN), timeout=60)
    (folder / "shut").touch()
    yield
    (folder / "shut").unlink(missing_ok=True)


async def in_file(folder: Path, name: str, text: str) -> None:
    """Returns when the engine has written ``text`` there."""
    while text not in lines(folder, name):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.005)


def lines(folder: Path, name: str) -> list[str]:
    path = folder / name
    return path.read_text().splitlines() if path.exists() else []


async def send(url: str, path: str, text: str, *headers: str) -> asyncio.StreamWriter:
    """A client that has sent its request and reads nothing."""
    body = json.dumps(PATHS[path](text)).encode()
    address = urlsplit(url)
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    head = ["content-type: application/json", f"content-length: {len(body)}", *headers]
    request = "\r\n".join([f"POST {path} HTTP/1.1", f"host: {address.netloc}", *head, "", ""])
    writer.write(request.encode() + body)
    await writer.drain()
    return writer


async def cancelled(client: httpx.AsyncClient) -> int:
    """Questions that left the queue with their client. Any call makes the replica count anew."""
    await client.post("/v1/systemone", json=PATHS["/v1/systemone"](KNOWN))
    exposition = (await client.get("/metrics")).text
    found = re.search(r'^vsr_model_cancelled_total\{deployment="primary"\} (\S+)', exposition, re.M)
    return 0 if found is None else int(float(found[1]))


UNWATCHED = "x-request-disconnect-disabled: ?1"
"""Forbids Serve to watch whether the client leaves."""


@pytest.mark.parametrize("headers", [(), (UNWATCHED,)], ids=["watched", "unwatched"])
@pytest.mark.parametrize("path", PATHS)
async def test_a_client_that_leaves_takes_its_questions_along(
    url: str, folder: Path, shut: None, path: str, headers: tuple[str, ...]
) -> None:
    """BUD-4"""
    stays, leaves = next(texts), next(texts)
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        staying = asyncio.create_task(
            client.post("/v1/systemone", json=PATHS["/v1/systemone"](stays))
        )
        await in_file(folder, "entered", stays)
        before = await cancelled(client)
        leaving = await send(url, path, leaves, *headers)
        await in_file(folder, "read", leaves)
        leaving.close()
        async with asyncio.timeout(20):
            while await cancelled(client) == before:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
        (folder / "shut").unlink()
        assert (await staying).status_code == 200
        after = await client.post("/v1/systemone", json=PATHS["/v1/systemone"]("after"))
        assert after.status_code == 200
    assert leaves not in lines(folder, "entered")
