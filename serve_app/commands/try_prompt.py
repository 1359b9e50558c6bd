"""``try FILE PROMPT``: what a router would do with a prompt, decided in this process."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console

from models.cards.schema import Card
from models.cards.shipped import shipped_cards
from models.engine import Engine
from serve_app.asking.call import Call, Reply
from serve_app.commands.local_ask import local_ask
from serve_app.commands.outcome_view import outcome_view
from serve_app.config.cards import cards_of
from serve_app.config.loading import Loaded, load
from serve_app.config.problem import ConfigErrors
from serve_app.config.schema.catalog import Placement
from serve_app.config.schema.document import Config, Recipe
from serve_app.deployments.asking.remote_models import RemoteModels
from serve_app.deployments.placement.engines import load_engine
from serve_app.flow import route
from serve_app.message import Counts, Message
from serve_app.outcome import Outcome
from serve_app.recipe import compile_recipe
from serve_app.scan.speed import Speeds
from serve_app.wire.headers import response_path
from serve_app.wire.preview import preview_body


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"


def try_prompt(
    file: Annotated[Path, typer.Argument(help="The router's configuration.")],
    prompt: Annotated[str, typer.Argument(help="The user's message.")],
    model: Annotated[
        str | None, typer.Option(help="The entrypoint's model name; default: the file's first.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print what was found.")] = Format.TABLE,
) -> None:
    """Shows what becomes of a prompt: no server, no Ray, no chat model is called.

    Exit 0: it was decided, 1: the configuration cannot be used.
    """
    cards = shipped_cards()
    try:
        loaded = load(file, cards=cards, environ=os.environ)
    except ConfigErrors as errors:
        typer.echo(str(errors), err=True)
        raise typer.Exit(1) from None
    outcome = outcome_of(loaded, prompt, model, cards, load_engine)
    if format is Format.JSON:
        typer.echo(orjson.dumps(preview_body(outcome, response_path(outcome))))
    else:
        Console().print(outcome_view(outcome))


def outcome_of(
    loaded: Loaded,
    prompt: str,
    model: str | None,
    cards: Mapping[str, Card],
    load_engine: Callable[[Card, Placement], Engine],
) -> Outcome:
    """The outcome of a prompt. ``cards``: by artifact. Only engines that it may ask are loaded,
    equal ones once; remote models are asked where they are.
    """
    catalog = loaded.config.global_.model_catalog
    deployments = catalog.local
    by_deployment = cards_of(catalog, cards)
    recipe = compile_recipe(_recipe(loaded.config, model), loaded.config, by_deployment)

    @cache
    def engine(artifact: str, placement: Placement) -> Engine:
        return load_engine(cards[artifact], placement)

    engines = {
        name: engine(deployments[name].artifact, deployments[name].placement)
        for name in sorted(recipe.deployments & deployments.keys())
    }
    local = local_ask(engines, time.monotonic)

    async def routed() -> Outcome:
        remote = RemoteModels(catalog, env=os.environ)

        async def ask(call: Call) -> Reply:
            return await (remote.ask(call) if call.deployment in remote else local(call))

        try:
            return await route(
                message_of(prompt),
                recipe,
                ask=ask,
                clock=time.monotonic,
                rng=random.random,
                speeds=Speeds(),
                deadline_s=None,
                config_version=loaded.version,
                explain=True,
            )
        finally:
            await remote.aclose()

    return asyncio.run(routed())


def _recipe(config: Config, model: str | None) -> Recipe:
    """The recipe that ``model`` selects, else the one of the first entrypoint."""
    entrypoints = [e for e in config.entrypoints if model is None or model in e.model_names]
    if not entrypoints:
        known = [name for entrypoint in config.entrypoints for name in entrypoint.model_names]
        raise typer.BadParameter(
            f"no entrypoint has it; known: {', '.join(known)}", param_hint="--model"
        )
    return next(r for r in config.recipes if r.name == entrypoints[0].recipe)


def message_of(prompt: str) -> Message:
    """A conversation of one user message, its tokens estimated at 4 bytes each (API-6)."""
    size = len(prompt.encode("utf-8", "surrogatepass"))
    return Message(prompt, counts=Counts(user=1), tokens=-(-size // 4))
