"""A decision, made ready once per configuration (CFG-8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serve_app.decisions.tree import Branch
from serve_app.outcome import FastAnswer


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ``modelRef``. ``description`` is the reference's own, else the model's.

    ``context_window`` in tokens, ``None`` unbounded.
    """

    model: str
    description: str | None = None
    weight: float = 1.0
    context_window: int | None = None

    def fits(self, tokens: int) -> bool:
        return self.context_window is None or tokens <= self.context_window


@dataclass(frozen=True, slots=True)
class Selector:
    """The deployment that picks among candidates, asked under ``id`` (SEL-1)."""

    deployment: str
    id: str
    timeout_s: float


@dataclass(frozen=True, slots=True)
class ReadyDecision:
    """``selector`` is set for the algorithm ``systemone``. ``fast`` ends the request."""

    name: str
    priority: int
    root: Branch
    on_unknown: Literal["no_match", "match", "fail_request"]
    candidates: tuple[Candidate, ...]
    algorithm: Literal["static", "random", "systemone"]
    selector: Selector | None
    fallback: bool
    output: tuple[str, ...]
    fast: FastAnswer | None
    plugins: tuple[str, ...]
