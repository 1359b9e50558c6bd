"""A change of policy in Ingress: what the old one opened is closed, and not too early (CFG-10)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from serve_app.deployments import ingress
from serve_app.deployments.api.endpoints import Endpoints
from serve_app.deployments.ingress import Ingress
from serve_app.providers.chat import ChatProviders
from tests.doubles.scripted_services import ScriptedServices

CONFIG = {
    "version": "v1",
    "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
    "recipes": [{"name": "default"}],
}


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[ChatProviders]:
    """The providers that were closed, in order."""
    ended: list[ChatProviders] = []

    async def aclose(self: ChatProviders) -> None:
        ended.append(self)

    monkeypatch.setattr(ChatProviders, "aclose", aclose)
    return ended


@pytest.fixture
def replica(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The user's class under Serve's wrapper, which needs a replica; its graph is scripted."""
    monkeypatch.setattr(ingress, "Policy", type("Played", (), {"of": staticmethod(dict)}))
    monkeypatch.setattr(ingress, "Graph", lambda policy, *_: policy["services"])
    monkeypatch.setattr(ingress, "prepare_replica", lambda: type("Profile", (), {"tuned": True}))
    return Ingress.__mro__[1](None, {})  # type: ignore[call-arg]


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_replaced_providers_are_closed_after_the_last_request_that_uses_them(
    replica: Any, closed: list[ChatProviders]
) -> None:
    """CFG-10"""
    services = ScriptedServices(CONFIG)
    services.hold = asyncio.Event()
    await replica.reconfigure({"services": services})
    asked = asyncio.create_task(replica.preview({"text": "hello"}))
    await services.entered.wait()
    await replica.reconfigure({"services": ScriptedServices(CONFIG)})
    await turns()
    assert closed == []
    services.hold.set()
    assert (await asked).status == 200
    await turns()
    assert len(closed) == 1
    assert (await replica.preview({"text": "hello"})).status == 200


async def test_providers_are_closed_when_the_replica_ends(
    replica: Any, closed: list[ChatProviders]
) -> None:
    """API-2: their connections are kept alive until then."""
    await replica.reconfigure({"services": ScriptedServices(CONFIG)})
    coming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent = []

    async def receive() -> Any:
        return coming.pop(0)

    async def send(message: Any) -> None:
        sent.append((message["type"], len(closed)))

    await replica.__serve_build_asgi_app__()({"type": "lifespan"}, receive, send)
    assert sent == [("lifespan.startup.complete", 0), ("lifespan.shutdown.complete", 1)]


async def test_endpoints_without_a_request_close_at_once(closed: list[ChatProviders]) -> None:
    """API-2"""
    await Endpoints(ScriptedServices(CONFIG)).aclose()
    assert len(closed) == 1


WITHOUT_ITS_KEY = {
    **CONFIG,
    "global": {"router": {"callers": [{"name": "ops", "api_key_env": "UNSET_KEY"}]}},
}


async def test_a_policy_that_cannot_be_taken_leaves_the_old_one(
    replica: Any, closed: list[ChatProviders], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-10, CFG-2"""
    monkeypatch.delenv("UNSET_KEY", raising=False)
    await replica.reconfigure({"services": ScriptedServices(CONFIG)})
    await replica.reconfigure({"services": ScriptedServices(WITHOUT_ITS_KEY)})
    await turns()
    assert closed == []
    assert (await replica.preview({"text": "hello"})).status == 200


async def test_a_new_replica_does_not_start_with_a_policy_that_it_cannot_take(
    replica: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-2, law 1"""
    monkeypatch.delenv("UNSET_KEY", raising=False)
    with pytest.raises(ValueError, match="UNSET_KEY is not set"):
        await replica.reconfigure({"services": ScriptedServices(WITHOUT_ITS_KEY)})
