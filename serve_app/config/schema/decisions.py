"""``recipes[].decisions``: conditions over rules, and what a match does (CFG-7, CFG-8)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from serve_app.config.schema.base import Name, Section
from serve_app.config.schema.predicate import Predicate


class Leaf(Section):
    """A condition on a rule or a projection, by type and name."""

    type: str
    name: Name
    label: str | None = None
    predicate: Predicate | None = None
    on_error: Literal["match", "no_match"] | None = None


class Group(Section):
    """Conditions joined by an operator; NOT has exactly one (checked by the loader)."""

    operator: Literal["AND", "OR", "NOT"] = "AND"
    conditions: list[Node]


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        grouped = "conditions" in value or "operator" in value
        return "group" if grouped and "type" not in value else "leaf"
    return "group" if isinstance(value, Group) else "leaf"


Node = Annotated[
    Annotated[Leaf, Tag("leaf")] | Annotated[Group, Tag("group")], Discriminator(_kind)
]


class Rules(Section):
    """The root of a tree: a group, empty for a catch-all, with the policy for unknown."""

    operator: Literal["AND", "OR", "NOT"] = "AND"
    conditions: list[Node] = Field(default_factory=list)
    on_unknown: Literal["no_match", "match", "fail_request"] | None = None


class ModelRef(Section):
    model: Name
    description: str | None = None
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)


class Algorithm(Section):
    """How a model is picked among ``modelRefs``: the first, by weight, or by SEL-1."""

    type: Literal["static", "random", "systemone"] = "static"
    deployment: Name | None = None
    timeout_ms: int | None = Field(default=None, ge=1, le=60_000)


class FastResponse(Section):
    """Answers without a provider: 200 a normal answer, 403 an error (65-plugins)."""

    type: Literal["fast_response"]
    message: str
    status: Literal[200, 403] = 200


Plugin = FastResponse


class Decision(Section):
    """``fallback``: a failed model hands over to the next ``modelRef`` (API-5)."""

    name: Name
    description: str = ""
    priority: int = 0
    rules: Rules = Rules()
    modelRefs: list[ModelRef] = Field(default_factory=list)  # noqa: N815 - the file's key
    algorithm: Algorithm = Algorithm()
    plugins: list[Plugin] = Field(default_factory=list)
    output: list[Literal["text", "image"]] = Field(default=["text"], min_length=1)
    fallback: bool = False

    @property
    def catch_all(self) -> bool:
        return not self.rules.conditions


Group.model_rebuild()
Rules.model_rebuild()
