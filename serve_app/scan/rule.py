"""What a scan knows of a guard rule: when it is decided, how near a window came (SCAN-4, -7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from models.questions.types import Question
from serve_app.reading import Criterion, Reading

Unscanned = Literal["best_effort", "match", "no_match", "unknown"]

_LEAST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class ScannedRule:
    """``id`` and ``question``: what its windows are asked. ``criteria``: those of the conditions on
    it; guards look upwards alone, so once the windows meet them all none can take that back
    (SCAN-5). ``timeout_s`` bounds each of its windows. ``whole``: every window is needed, be the
    rule decided or not, since a projection reads its value or masking its spans.
    """

    id: str
    question: Question
    criteria: tuple[Criterion, ...]
    on_unscanned: Unscanned = "best_effort"
    min_coverage: float | None = None
    timeout_s: float | None = None
    whole: bool = False

    def decided(self, values: tuple[float, ...]) -> bool:
        """Whether ``values``, the greatest of the windows read, meet every criterion."""
        reading = Reading(values, windowed=True)
        return all(criterion.met(reading) for criterion in self.criteria)

    def gap(self, values: tuple[float, ...], greatest: tuple[float, ...]) -> float:
        """Log-odds from a window's ``values`` up to the nearest criterion that the ``greatest`` of
        all do not meet; infinite where they meet them all."""
        reading, best = Reading(values, windowed=True), Reading(greatest, windowed=True)
        gaps = [
            max(0.0, log_odds(bound) - log_odds(value))
            for criterion in self.criteria
            if not criterion.met(best)
            and (value := criterion.value(reading)) is not None
            and (bound := criterion.nearest_bound(reading, value)) is not None
        ]
        return min(gaps, default=math.inf)


def log_odds(probability: float) -> float:
    p = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(p / (1 - p))
