"""Found spans against true ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from models.evaluation.truth import Mark
from models.questions.types import Span


@dataclass(frozen=True)
class Counts:
    """How many are ``found``, how many ``true``, and how many are both."""

    found: int
    true: int
    right: int


def marks(spans: Iterable[Span]) -> dict[Mark, float]:
    """Found spans with their probabilities; one that is named twice counts once, at its best."""
    found: dict[Mark, float] = {}
    for span in spans:
        mark = Mark(span.start, span.end, span.label)
        found[mark] = max(found.get(mark, 0.0), span.probability)
    return found


def exact(found: Iterable[Mark], true: Iterable[Mark], label: str | None = None) -> Counts:
    """Spans that agree in label, start and end. ``label``: of this one alone."""
    f = {mark for mark in found if label in (None, mark.label)}
    t = {mark for mark in true if label in (None, mark.label)}
    return Counts(len(f), len(t), len(f & t))


def characters(found: Iterable[Mark], true: Iterable[Mark]) -> Counts:
    """Characters with their labels: a half-found span counts by half, under the right label. One
    that several spans of a label cover counts once.
    """
    f, t = _covered(found), _covered(true)
    return Counts(len(f), len(t), len(f & t))


def _covered(spans: Iterable[Mark]) -> set[tuple[str, int]]:
    return {(mark.label, place) for mark in spans for place in range(mark.start, mark.end)}
