"""Recipes from the configuration's own form, compiled against a card that can do everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.cards.schema import Card
from models.questions.types import QuestionType
from serve_app.asking.call import Ask
from serve_app.config.schema.document import Config
from serve_app.flow import route
from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.recipe import CompiledRecipe, compile_recipe
from serve_app.scan.speed import Speeds


def card(**fields: Any) -> Card:
    """A card of every type and kind of input; ``fields`` replace its own."""
    known: dict[str, Any] = {
        "name": "scripted",
        "revision": "1",
        "family": "scripted",
        "release_date": "2026-01-01",
        "question_types": frozenset(QuestionType),
        "modalities": frozenset({"text", "image"}),
        "calibrated": False,
        "max_input_tokens": 4096,
        "reads_state_once": True,
        "licence": "Apache-2.0",
    }
    return Card(**(known | fields))


MODELS = [
    {
        "name": "small",
        "description": "Fast",
        "context_window": 1000,
        "backends": [{"base_url": "http://127.0.0.1:9/v1"}],
    },
    {
        "name": "large",
        "description": "Strong",
        "context_window": 10_000,
        "backends": [{"base_url": "http://127.0.0.1:9/v1"}],
    },
    {"name": "endless", "backends": [{"base_url": "http://127.0.0.1:9/v1"}]},
]

ROUTED = {"modelRefs": [{"model": "endless"}]}
"""What a decision needs beside its rules, where the models are not the point."""


def config(
    recipe: Mapping[str, Any],
    *,
    default_model: str | None = None,
    catalog: Mapping[str, Any] | None = None,
) -> Config:
    document = {
        "version": "v1",
        "providers": {"defaults": {"default_model": default_model}, "models": MODELS},
        "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
        "recipes": [{"name": "default", **recipe}],
        "global": {"model_catalog": dict(catalog or {})},
    }
    return Config.model_validate(document)


def compiled(
    recipe: Mapping[str, Any],
    *,
    cards: Mapping[str, Card] | None = None,
    default_model: str | None = None,
    catalog: Mapping[str, Any] | None = None,
) -> CompiledRecipe:
    """``recipe``: its ``signals``, ``projections`` and ``decisions`` as in the file."""
    known = config(recipe, default_model=default_model, catalog=catalog)
    names = known.global_.model_catalog.deployments
    return compile_recipe(
        known.recipes[0], known, {name: card() for name in names} | dict(cards or {})
    )


def deployments(*names: str, **fields: Any) -> dict[str, Any]:
    """A catalogue with local models of these names; ``fields`` are each one's."""
    one = {"provider": "model_runtime", "artifact": "embedded", **fields}
    return {"deployments": {name: dict(one) for name in names}}


def remote(**fields: Any) -> dict[str, Any]:
    """A deployment of a System One API elsewhere."""
    return {"provider": "systemone", "endpoint": "http://127.0.0.1:9", "model": "m", **fields}


async def routed(
    recipe: CompiledRecipe,
    ask: Ask,
    message: Message | str = "Hello",
    *,
    clock: Any = lambda: 0.0,
    draw: float = 0.0,
    deadline_s: float | None = None,
    explain: bool = True,
    speeds: Speeds | None = None,
) -> Outcome:
    """The outcome of one request."""
    if isinstance(message, str):
        message = Message(message)
    return await route(
        message,
        recipe,
        ask=ask,
        clock=clock,
        rng=lambda: draw,
        speeds=speeds or Speeds(),
        deadline_s=deadline_s,
        config_version="test",
        explain=explain,
    )
