"""A value that may move, and what moves with it (API-9)."""

from __future__ import annotations

from dataclasses import dataclass

from serve_app.reading import Criterion, Reading


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a rule may take.

    ``key``: ``type:name``. ``options``: a choice's, which share one probability. ``top``: the
    greatest value, the least is 0; ``whole``: whole numbers only. ``answer``: equal for rules
    that share one answer (SIG-5) and so move together.
    """

    key: str
    answer: int
    options: tuple[str, ...] = ()
    top: float = 1.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One value that may move: the options' greatest, in the reading that ``rules`` share.

    Of a choice it is one option's probability; the others keep their proportions in what is
    left of 1. Of other rules with several options, what stands above the new value comes down
    to it. ``best``: the index of the greatest.
    """

    name: str
    rules: frozenset[int]
    options: tuple[int, ...]
    best: int
    value: float
    scale: Scale
    reading: Reading

    @classmethod
    def of(
        cls,
        name: str,
        rules: frozenset[int],
        options: tuple[int, ...],
        scale: Scale,
        reading: Reading,
    ) -> Change:
        best = max(options, key=lambda i: reading.values[i])
        return cls(name, rules, options, best, reading.values[best], scale, reading)

    def to(self, value: float) -> Reading:
        """The reading once the value has moved."""
        values = list(self.reading.values)
        if not self.scale.options:
            for i in self.options:
                values[i] = min(values[i], value)
            values[self.best] = value
            return Reading(tuple(values), windowed=self.reading.windowed)
        shares = self._shares()
        values = [(1 - value) * share for share in shares]
        values[self.best] = value
        return Reading(tuple(values), values.index(max(values)))

    def turning_points(self, criterion: Criterion) -> list[float]:
        """Values at which another of the criterion's options, or of all, takes over."""
        if not self.scale.options:
            return [self.reading.values[i] for i in criterion.options]
        shares = self._shares()
        greatest = {max(shares), max(shares[i] for i in criterion.options)}
        return [share / (1 + share) for share in greatest]

    def _shares(self) -> list[float]:
        """How the other options split what this one leaves."""
        values, best = self.reading.values, self.best
        rest = sum(v for i, v in enumerate(values) if i != best)
        if rest <= 0:
            return [1 / (len(values) - 1)] * len(values)
        return [v / rest if i != best else 0.0 for i, v in enumerate(values)]
