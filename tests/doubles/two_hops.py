"""The smallest graph of two deployments: what the profile does to it is what it does to any."""

# No `from __future__ import annotations`: Serve ships an ingress class by value, without the
# globals that only annotations name, and FastAPI would then take `request` for a query parameter.

import os
import sys
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.multiprocess import MultiProcessCollector
from pydantic import BaseModel
from ray import serve
from ray.serve.handle import DeploymentHandle

from serve_app.deployments.process.replica import prepare_replica

api = FastAPI()


class Args(BaseModel):
    config: str


def calls_counter() -> Counter:
    return Counter("two_hops_calls", "Calls", registry=CollectorRegistry())


@serve.deployment(ray_actor_options={"num_cpus": 0.1})
class Behind:
    def __init__(self) -> None:
        prepare_replica()
        self.calls = calls_counter()

    async def length(self, text: str) -> int:
        self.calls.inc()
        return len(text)


@serve.deployment(ray_actor_options={"num_cpus": 0.1})
@serve.ingress(api)
class Front:
    def __init__(self, behind: DeploymentHandle) -> None:
        self.profile = prepare_replica()
        self.calls = calls_counter()
        self.behind = behind

    @api.get("/process")
    async def process(self) -> dict[str, Any]:
        return {
            "profile": asdict(self.profile),
            "counters": os.environ["PROMETHEUS_MULTIPROC_DIR"],
            "threads": os.environ.get("OMP_NUM_THREADS"),
            "torch": "torch" in sys.modules,
        }

    @api.post("/length")
    async def length(self, request: Request) -> int:
        self.calls.inc()
        return await self.behind.length.remote((await request.body()).decode())

    @api.get("/calls")
    async def total_calls(self) -> float | None:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        return registry.get_sample_value("two_hops_calls_total")


def build(args: Args) -> serve.Application:
    return Front.bind(Behind.bind())
