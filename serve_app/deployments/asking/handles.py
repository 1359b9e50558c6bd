"""Handles of one method, as this graph uses them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from ray.serve.handle import DeploymentHandle

FIRST_LIST_S: Final = 3.0
"""How long a new process waits to hear of its callees: many times what the controller takes, and
little beside the load of a model that does not run yet."""

UPDATE_S: Final = 0.5
"""How long a deployment may look as if none of it ran. A replica that takes a new policy is off
Serve's list of those that run until the controller's next turn, 0.1 s later or a few of them; it
goes on answering what reaches it."""


def method(deployment: DeploymentHandle[Any], name: str) -> DeploymentHandle[Any]:
    """The handle of a deployment's method, made once in the loop that uses it: it follows the
    replicas from then on.

    What travels are plain values of importable modules: pickle writes them in C, where
    cloudpickle, Serve's default, asks a Python function about every instance.
    """
    return deployment.options(
        method_name=name, request_serialization="pickle", response_serialization="pickle"
    )


def running(deployment: DeploymentHandle[Any]) -> bool:
    """Whether a replica runs now, as far as this process has heard from the controller.

    Serve's public ``running_replicas_populated`` says whether one ever has; it is the answer where
    a version of Ray keeps its list of replicas elsewhere.
    """
    handle: Any = deployment
    try:
        router = handle._router._asyncio_router._request_router
        return router is not None and bool(router.curr_replicas)
    except AttributeError:
        return bool(deployment.running_replicas_populated())


async def heard_of(
    deployments: Iterable[DeploymentHandle[Any]], limit_s: float = FIRST_LIST_S
) -> None:
    """Returns when each has a running replica, at most ``limit_s`` later: to a process that has
    just started, a model that runs looks like one that does not.
    """
    deployments = list(deployments)
    try:
        async with asyncio.timeout(limit_s):
            while not all(map(running, deployments)):  # noqa: ASYNC110 - Serve tells nobody
                await asyncio.sleep(0.02)
    except TimeoutError:
        pass


async def result(response: Any) -> Any:
    """Waits for a ``DeploymentResponse``, and cancels its call when the wait is cancelled (SRV-9).

    By itself a cancelled wait cancels a call over gRPC and not one by reference. Serve works for
    half a millisecond on a cancellation: it comes in the loop's next turn, so that whoever leaves
    in this one has left.
    """
    try:
        return await response
    except asyncio.CancelledError:
        asyncio.get_running_loop().call_soon(response.cancel)
        raise
