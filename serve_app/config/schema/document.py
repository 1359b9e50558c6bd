"""The whole file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from serve_app.config.schema.base import Name, Section
from serve_app.config.schema.catalog import Global
from serve_app.config.schema.decisions import Decision
from serve_app.config.schema.projections import Projections
from serve_app.config.schema.providers import Providers
from serve_app.config.schema.signals import Signals


class Entrypoint(Section):
    """Model names that clients use and the recipe they select."""

    model_names: list[Name] = Field(min_length=1)
    recipe: Name


class Recipe(Section):
    name: Name
    signals: Signals = Signals()
    projections: Projections = Projections()
    decisions: list[Decision] = Field(default_factory=list)


class Config(Section):
    """A router (10-config). The loader asks for at least one entrypoint and one recipe."""

    version: Literal["v1"]
    providers: Providers = Providers()
    entrypoints: list[Entrypoint] = Field(default_factory=list)
    recipes: list[Recipe] = Field(default_factory=list)
    global_: Global = Field(default=Global(), alias="global")
