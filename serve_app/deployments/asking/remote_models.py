"""The decision models of a configuration that are asked over HTTP (CFG-3)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache, partial

from serve_app.asking.call import Call, Reply
from serve_app.asking.remote.cache import RemoteCache
from serve_app.asking.remote.model import RemoteModel
from serve_app.config.schema.catalog import ModelCatalog
from serve_app.providers.systemone import SystemOneApi
from serve_app.providers.tls import tls_context
from serve_app.telemetry.metrics import observe_remote


class RemoteModels:
    """An HTTP client and the kept answers of each remote deployment, for the life of one version
    of the configuration: a new version begins with nothing kept (CACHE-2). ``env`` holds the keys.
    """

    def __init__(self, catalog: ModelCatalog, *, env: Mapping[str, str]) -> None:
        tls = cache(tls_context)
        self._apis = {
            name: SystemOneApi(spec, env=env, observe=partial(observe_remote, name), tls=tls())
            for name, spec in catalog.remote.items()
        }
        self._kept = {name: RemoteCache(time.monotonic) for name in catalog.remote}
        self._models = {
            name: RemoteModel(spec.model, self._apis[name].send, self._kept[name], time.monotonic)
            for name, spec in catalog.remote.items()
        }

    def __contains__(self, deployment: str) -> bool:
        return deployment in self._models

    async def ask(self, call: Call) -> Reply:
        """``KeyError`` for a deployment that is not remote."""
        return await self._models[call.deployment].ask(call)

    def forget(self) -> None:
        """Nothing that was answered before serves any more."""
        for kept in self._kept.values():
            kept.clear()

    async def aclose(self) -> None:
        for api in self._apis.values():
            await api.aclose()
