"""The whole application under uvicorn, with a played graph behind it and a real provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import httpx
import pytest

from serve_app.deployments.api.gateway import Gateway
from serve_app.deployments.api.http import create_app
from serve_app.providers.chat import ChatProviders
from serve_app.telemetry.metrics import observe_provider
from tests.doubles.scripted_services import ScriptedServices
from tests.doubles.servers import echo_provider, running


def model(name: str, *urls: str, id: str | None = None, **backend: Any) -> dict[str, Any]:
    backends = [{"base_url": url, **backend} for url in urls]
    return {"name": name, "provider_model_id": id, "backends": backends}


def document(*models: dict[str, Any], **router: Any) -> dict[str, Any]:
    return {
        "version": "v1",
        "providers": {"models": list(models)},
        "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
        "recipes": [{"name": "default"}],
        "global": {"router": router},
    }


@dataclass
class Router:
    url: str
    services: ScriptedServices
    client: httpx.AsyncClient


class Start(Protocol):
    def __call__(
        self,
        config: dict[str, Any],
        env: dict[str, str] | None = None,
        shown: Mapping[str, Any] | None = None,
    ) -> AbstractAsyncContextManager[Router]: ...


@pytest.fixture(scope="session")
def echo() -> Iterator[str]:
    with echo_provider() as url:
        yield url


@pytest.fixture
def start() -> Start:
    @asynccontextmanager
    async def started(
        config: dict[str, Any],
        env: dict[str, str] | None = None,
        shown: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[Router]:
        services = ScriptedServices(config, shown=shown)
        providers = ChatProviders(
            services.config.providers.models,
            env=env or {},
            rng=Random(7),
            observe=observe_provider,
        )
        gateway = Gateway(services, providers, env=env or {}, wall_clock=lambda: 1_700_000_000.0)
        async with (
            running(create_app(gateway)) as url,
            httpx.AsyncClient(base_url=url, verify=False) as client,
        ):
            yield Router(url, services, client)
        await providers.aclose()
        await services.aclose()

    return started


@pytest.fixture
async def router(start: Start, echo: str) -> AsyncIterator[Router]:
    async with start(document(model("general", echo))) as router:
        yield router
