"""Names stand once, and entrypoints lead somewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from serve_app.config.checks.review import Review
from serve_app.config.schema.document import Recipe
from serve_app.config.schema.signals import SECTIONS
from serve_app.config.tree import Loc


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def check_names(review: Review) -> None:
    config = review.config
    unique(review, "model", _named(("providers", "models"), config.providers.models))
    unique(review, "recipe", _named(("recipes",), config.recipes))
    callers = config.global_.router.callers or []
    unique(review, "caller", _named(("global", "router", "callers"), callers))
    for index, recipe in enumerate(config.recipes):
        _check_recipe(review, ("recipes", index), recipe)
    _check_entrypoints(review)


def unique(review: Review, what: str, names: Iterable[tuple[Loc, str]]) -> None:
    """An error at every name that stands a second time."""
    first: dict[str, Loc] = {}
    for loc, name in names:
        if name in first:
            where = review.node(first[name])
            review.error(loc, f"this {what} stands twice, first on line {where.line}")
        else:
            first[name] = loc


def _check_recipe(review: Review, loc: Loc, recipe: Recipe) -> None:
    for section, rule in SECTIONS.items():
        rules = getattr(recipe.signals, section)
        unique(review, f"{rule.type} rule", _named((*loc, "signals", section), rules))
    unique(review, "decision", _named((*loc, "decisions"), recipe.decisions))
    projections = (*loc, "projections")
    unique(review, "score", _named((*projections, "scores"), recipe.projections.scores))
    unique(review, "mapping", _named((*projections, "mappings"), recipe.projections.mappings))
    outputs = (
        found
        for index, mapping in enumerate(recipe.projections.mappings)
        for found in _named((*projections, "mappings", index, "outputs"), mapping.outputs)
    )
    unique(review, "output", outputs)


def _check_entrypoints(review: Review) -> None:
    config, declared = review.config, review.declared
    for key, found in (("entrypoints", config.entrypoints), ("recipes", config.recipes)):
        if not found and review.whole((key,)):
            review.error((key,), f"needs at least one of the {key}")
    names = [
        (("entrypoints", index, "model_names", place), name)
        for index, entrypoint in enumerate(config.entrypoints)
        for place, name in enumerate(entrypoint.model_names)
    ]
    unique(review, "model name", names)
    for loc, name in names:
        if name in list(declared.models):  # of those that are known
            review.error(
                loc, "is also the name of a provider model: a client could not tell them apart"
            )
    for index, entrypoint in enumerate(config.entrypoints):
        if entrypoint.recipe not in declared.recipes:
            review.error(
                ("entrypoints", index, "recipe"),
                "there is no such recipe",
                name=entrypoint.recipe,
                allowed=declared.recipes,
            )


def _named(loc: Loc, items: Iterable[_Named]) -> list[tuple[Loc, str]]:
    return [((*loc, index, "name"), item.name) for index, item in enumerate(items)]
