"""``recipes[].projections``: rule values summed into scores, scores into bands (CFG-9)."""

from __future__ import annotations

from pydantic import Field

from serve_app.config.schema.base import Name, Section


class ScoreInput(Section):
    type: str
    name: Name
    label: str | None = None
    weight: float = Field(allow_inf_nan=False)


class ProjectionScore(Section):
    name: Name
    inputs: list[ScoreInput] = Field(min_length=1)


class Band(Section):
    """Matches while ``gte <= score < lt``; an absent bound is open."""

    name: Name
    gte: float | None = Field(default=None, allow_inf_nan=False)
    lt: float | None = Field(default=None, allow_inf_nan=False)


class Mapping(Section):
    name: Name
    source: Name
    outputs: list[Band] = Field(min_length=1)


class Projections(Section):
    scores: list[ProjectionScore] = Field(default_factory=list)
    mappings: list[Mapping] = Field(default_factory=list)
