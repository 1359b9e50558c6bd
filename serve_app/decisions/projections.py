"""Rule values summed into scores (CFG-9)."""

from __future__ import annotations

from dataclasses import dataclass

from serve_app.outcome import Truth
from serve_app.reading import Criterion, Reading, Readings


@dataclass(frozen=True, slots=True)
class Term:
    """``condition``: the rule as ``type:name[:label]``; ``rule``: its place among readings;
    ``on_unknown``: what the rule counts as without an answer, if it says so.
    """

    condition: str
    rule: int
    criterion: Criterion
    weight: float
    on_unknown: Truth | None = None

    def value(self, reading: Reading) -> float | None:
        """``None`` without an answer where the rule has no policy of its own (UNK-2, CFG-9), and
        while it is being read. A long input that counts as a match for want of windows is 1."""
        if reading.open:
            return None
        value = self.criterion.value(reading)
        if reading.unread is Truth.TRUE and not self.criterion.met(reading):
            return 1.0
        if value is None and self.on_unknown is not None:
            return 1.0 if self.on_unknown is Truth.TRUE else 0.0
        return value


@dataclass(frozen=True, slots=True)
class Score:
    """A weighted sum of rule values: of a rule without a figure 1 for a match, else 0."""

    name: str
    terms: tuple[Term, ...]

    def value(self, readings: Readings) -> float | None:
        """``None`` if one of its inputs is unknown or not asked yet."""
        total = 0.0
        for term in self.terms:
            reading = readings[term.rule]
            value = None if reading is None else term.value(reading)
            if value is None:
                return None
            total += term.weight * value
        return total

    def asked(self, readings: Readings) -> bool:
        """Whether all its inputs have been read, be they unknown."""
        read = (readings[term.rule] for term in self.terms)
        return all(reading is not None and not reading.open for reading in read)
