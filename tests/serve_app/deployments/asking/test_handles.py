"""What this process knows of its callees, and the end of a wait. SRV-8, SRV-9, SRV-15"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from serve_app.client import RouterClient
from serve_app.deployments.asking import handles
from serve_app.deployments.asking.handles import heard_of, running
from tests.doubles.handles import SILENCE, ScriptedHandle


def of_ray(replicas: dict[str, object] | None) -> Any:
    """A handle laid out as Ray's; ``None``: it has heard nothing yet."""
    router = None if replicas is None else SimpleNamespace(curr_replicas=replicas)
    router_loop = SimpleNamespace(_request_router=router)
    return SimpleNamespace(
        _router=SimpleNamespace(_asyncio_router=router_loop),
        running_replicas_populated=lambda: True,
    )


def test_a_replica_that_ran_once_does_not_run_for_ever() -> None:
    """SRV-8: Serve's own flag stays true."""
    replicas: dict[str, object] = {"a": object()}
    handle = of_ray(replicas)
    assert running(handle)
    replicas.clear()
    assert not running(handle)
    assert not running(of_ray(None))


@pytest.mark.parametrize("ready", [True, False])
def test_where_ray_keeps_its_replicas_elsewhere_its_public_flag_counts(ready: bool) -> None:
    """SRV-8"""
    handle: Any = ScriptedHandle(ready=ready)
    assert running(handle) is ready


async def test_a_new_process_waits_until_it_has_heard_of_every_model() -> None:
    """SRV-8; UNK-3: its first guards have an answer"""
    replicas: dict[str, object] = {}
    waiting = asyncio.create_task(heard_of([of_ray({"a": object()}), of_ray(replicas)]))
    await asyncio.sleep(0)
    assert not waiting.done()
    replicas["b"] = object()
    await asyncio.wait_for(waiting, 10)


async def test_a_new_process_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """SRV-8"""
    monkeypatch.setattr(handles, "FIRST_LIST_S", 0.01)
    await asyncio.wait_for(heard_of([of_ray(None)]), 10)


async def test_a_client_that_gives_up_cancels_its_call() -> None:
    """SRV-9, SRV-15"""
    method = ScriptedHandle(SILENCE)
    graph: Any = SimpleNamespace(preview=method)
    task = asyncio.create_task(RouterClient(graph).preview("hello"))
    while not method.responses:  # noqa: ASYNC110 - the task begins within a turn or two
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert method.responses[0].cancelled
