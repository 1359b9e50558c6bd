"""What is legal but useless, in a configuration without errors (CFG-1, SIG-1)."""

from __future__ import annotations

from serve_app.config.checks.conditions import PROJECTION, leaves
from serve_app.config.checks.review import Review
from serve_app.config.schema.document import Recipe
from serve_app.config.schema.signals import SECTIONS
from serve_app.config.tree import Loc


def check_unused(review: Review) -> None:
    config = review.config
    selected = {entrypoint.recipe for entrypoint in config.entrypoints}
    default = config.providers.defaults.default_model
    named = {default}
    for index, recipe in enumerate(config.recipes):
        loc: Loc = ("recipes", index)
        if recipe.name not in selected:
            review.warn((*loc, "name"), "no entrypoint selects this recipe")
        _check_rules(review, loc, recipe)
        _check_projections(review, loc, recipe)
        _check_catch_alls(review, loc, recipe, default)
        named |= {ref.model for decision in recipe.decisions for ref in decision.modelRefs}
    for index, model in enumerate(config.providers.models):
        if model.name not in named:
            review.warn(
                ("providers", "models", index, "name"),
                "no decision names this model: only clients that ask for it by name reach it",
            )


def _check_rules(review: Review, loc: Loc, recipe: Recipe) -> None:
    read = {(r.type, r.name) for score in recipe.projections.scores for r in score.inputs}
    read |= _read(recipe)
    for section in SECTIONS:
        for index, rule in enumerate(getattr(recipe.signals, section)):
            if (rule.type, rule.name) not in read:
                review.warn(
                    (*loc, "signals", section, index, "name"),
                    "no decision and no projection reads this rule: it is never asked",
                )


def _check_projections(review: Review, loc: Loc, recipe: Recipe) -> None:
    read = {name for type, name in _read(recipe) if type == PROJECTION}
    sources = {mapping.source for mapping in recipe.projections.mappings}
    for index, score in enumerate(recipe.projections.scores):
        if score.name not in sources:
            review.warn(
                (*loc, "projections", "scores", index, "name"), "no mapping reads this score"
            )
    for index, mapping in enumerate(recipe.projections.mappings):
        if read.isdisjoint(band.name for band in mapping.outputs):
            review.warn(
                (*loc, "projections", "mappings", index, "name"),
                "no decision reads an output of this mapping",
            )


def _check_catch_alls(review: Review, loc: Loc, recipe: Recipe, default: str | None) -> None:
    """Catch-alls rank last, among themselves by priority and the file's order (DEC-1)."""
    ranked = sorted(
        (-decision.priority, index)
        for index, decision in enumerate(recipe.decisions)
        if decision.catch_all
    )
    for _, index in ranked[1:]:
        first = recipe.decisions[ranked[0][1]].name
        review.warn(
            (*loc, "decisions", index), f"is never taken: {first} takes what no condition matched"
        )
    if not ranked and default is None:
        review.warn(
            (*loc, "decisions"),
            "no decision without conditions and no default_model: a request that matches none "
            "is refused with no_decision",
        )


def _read(recipe: Recipe) -> set[tuple[str, str]]:
    return {
        (leaf.type, leaf.name)
        for decision in recipe.decisions
        for _, leaf in leaves((), decision.rules.conditions)
    }
