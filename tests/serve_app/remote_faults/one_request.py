"""One request whose rules ask remote APIs: real clients, and the whole request stage."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from serve_app.asking.call import Ask, Call, Reply
from serve_app.asking.remote.cache import RemoteCache
from serve_app.asking.remote.model import RemoteModel
from serve_app.config.cards import cards_of
from serve_app.outcome import Outcome, RuleOutcome, Truth
from serve_app.providers.systemone import SystemOneApi
from serve_app.providers.tls import tls_context
from serve_app.recipe import CompiledRecipe
from tests.doubles.faults.asking import FAULTY, KEY, MESSAGE, Api, catalog, recipe
from tests.doubles.recipes import compiled, config, routed

TLS: Final = tls_context()
PATIENCE_S: Final = 30.0
"""Ends a test whose request never ends; the request's own bound is far below."""


@asynccontextmanager
async def asking(known: Mapping[str, Any], env: Mapping[str, str]) -> AsyncIterator[Ask]:
    """The remote models of a catalogue, which keep no answer."""
    deployments = config({}, catalog=known).global_.model_catalog.remote
    apis = {
        name: SystemOneApi(deployment, env=env, observe=lambda outcome: None, tls=TLS)
        for name, deployment in deployments.items()
    }
    models = {
        name: RemoteModel(
            deployments[name].model, api.send, RemoteCache(time.monotonic, ttl_s=0), time.monotonic
        )
        for name, api in apis.items()
    }

    async def ask(call: Call) -> Reply:
        return await models[call.deployment].ask(call)

    try:
        yield ask
    finally:
        for api in apis.values():
            await api.aclose()


async def outcome_at(
    api: Api,
    healthy: str,
    names: tuple[str, ...],
    *,
    on_unknown: str | None = None,
    key: str = "secret",
) -> Outcome:
    """Of one request, with fresh clients. ``healthy``: the other API's endpoint."""
    known = catalog({FAULTY: api}, healthy)
    ready = readied(known, names, on_unknown)
    async with asking(known, {KEY: key}) as ask:
        return await outcome_of(ready, ask)


async def outcome_of(ready: CompiledRecipe, ask: Ask) -> Outcome:
    async with asyncio.timeout(PATIENCE_S):
        return await routed(ready, ask, MESSAGE, clock=time.monotonic)


def readied(
    known: Mapping[str, Any], names: tuple[str, ...], on_unknown: str | None = None
) -> CompiledRecipe:
    """The recipe of ``names`` with the cards of a catalogue's models."""
    cards = cards_of(config({}, catalog=known).global_.model_catalog, {})
    return compiled(recipe(names, on_unknown=on_unknown), catalog=known, cards=cards)


def by_name(outcome: Outcome) -> dict[str, RuleOutcome]:
    return {rule.name: rule for rule in outcome.rules}


def reasons(outcome: Outcome) -> dict[str, Any]:
    return {r.name: r.reason for r in outcome.rules if r.verdict is Truth.UNKNOWN}


def attempts(outcome: Outcome) -> dict[str, int]:
    return {call.deployment: call.attempts for call in outcome.calls}
