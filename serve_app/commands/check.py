"""``check FILE``: everything that is wrong with a configuration, or what it asks of whom."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from models.cards.shipped import shipped_cards
from serve_app.config.loading import Loaded, load
from serve_app.config.problem import ConfigErrors, Problem
from serve_app.config.schema.document import Config, Recipe
from serve_app.config.schema.signals import ModelRule


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


def check(
    file: Annotated[Path, typer.Argument(help="The router's configuration.")],
    format: Annotated[Format, typer.Option(help="How to print what was found.")] = Format.TEXT,
) -> None:
    """Checks a configuration and starts nothing. Exit 0: it can be used, 1: it cannot."""
    loaded: Loaded | None = None
    cards = shipped_cards()
    try:
        loaded = load(file, cards=cards, environ=os.environ)
        problems: Sequence[Problem] = loaded.warnings
    except ConfigErrors as errors:
        problems = errors.problems
    render = as_json if format is Format.JSON else as_text
    typer.echo(render(str(file), loaded, problems))
    raise typer.Exit(0 if loaded is not None else 1)


def as_text(file: str, loaded: Loaded | None, problems: Sequence[Problem]) -> str:
    """A problem a line, after a summary of what is usable or before the count of errors.

    ``loaded`` is ``None`` where ``problems`` are errors; else they are warnings.
    """
    if loaded is None:
        return "\n".join([*map(str, problems), _count(len(problems), "error")])
    lines = [f"warning: {problem}" for problem in problems]
    head = [f"{file}: valid, version {loaded.version}"]
    for recipe in loaded.config.recipes:
        head += _recipe(loaded.config, recipe)
    return "\n".join([*head, *lines, *([_count(len(lines), "warning")] if lines else [])])


def as_json(file: str, loaded: Loaded | None, problems: Sequence[Problem]) -> str:
    """One JSON object: ``file``, ``valid``, ``version``, ``problems``."""
    version = loaded.version if loaded is not None else None
    body = {
        "file": file,
        "valid": loaded is not None,
        "version": version,
        "problems": [asdict(problem) for problem in problems],
    }
    return json.dumps(body, ensure_ascii=False, indent=2)


def _recipe(config: Config, recipe: Recipe) -> list[str]:
    names = [n for e in config.entrypoints if e.recipe == recipe.name for n in e.model_names]
    selected = ", ".join(names) or "no entrypoint"
    count = _count(len(recipe.decisions), "decision")
    lines = [f"  recipe {recipe.name} ({selected}): {count}"]
    remote = config.global_.model_catalog.remote
    for asked, rules in rules_by_deployment(config, recipe).items():
        who = "remote deployment" if asked in remote else "deployment"
        who = "no model" if asked is None else f"{who} {asked}"
        lines.append(f"    {who}: {_count(len(rules), 'rule')}: {', '.join(rules)}")
    return lines


def rules_by_deployment(config: Config, recipe: Recipe) -> dict[str | None, list[str]]:
    """Deployment -> the rules that ask it as ``type:name``; ``None`` -> those without a model."""
    system = config.global_.model_catalog.system.decision_model.deployment
    found: dict[str | None, list[str]] = defaultdict(list)
    for rule in recipe.signals.rules():
        asked = (rule.deployment or system) if isinstance(rule, ModelRule) else None
        found[asked].append(f"{rule.type}:{rule.name}")
    return dict(found)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
