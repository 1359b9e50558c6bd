"""What a call to a deployment takes, by its size: measured, and used to see whether larger windows
would finish in time (SCAN-9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_KEPT: Final = 0.97
"""What a call leaves of the weight of those before it: some thirty calls are remembered."""

_ENOUGH: Final = 4.0
"""Weight from which the measure is believed."""


@dataclass(slots=True)
class Speed:
    """Seconds a call, as a fixed part and one per byte: least squares over recent calls.

    Nothing is measured of calls that waited for room (SCAN-10, OVL-8): whoever asks leaves them
    out.
    """

    weight: float = 0.0
    bytes: float = 0.0
    seconds: float = 0.0
    squares: float = 0.0
    products: float = 0.0

    def measured(self, size: int, seconds: float) -> None:
        """A call about ``size`` bytes took ``seconds``."""
        self.weight = self.weight * _KEPT + 1
        self.bytes = self.bytes * _KEPT + size
        self.seconds = self.seconds * _KEPT + seconds
        self.squares = self.squares * _KEPT + size * size
        self.products = self.products * _KEPT + size * seconds

    def seconds_for(self, size: int) -> float | None:
        """What a call about ``size`` bytes takes; ``None`` while calls of one size alone, or too
        few, were measured."""
        if self.weight < _ENOUGH:
            return None
        mean = self.bytes / self.weight
        variance = self.squares / self.weight - mean * mean
        if variance <= (0.05 * mean) ** 2:
            return None
        typical = self.seconds / self.weight
        covariance = self.products / self.weight - mean * typical
        per_byte = max(0.0, covariance / variance)
        fixed = max(0.0, typical - per_byte * mean)
        return fixed + per_byte * size


class Speeds:
    """The measured speed of each deployment, kept from request to request.

    ``revisions``: by deployment, what tells apart the models that it has been. Speeds made
    ``under`` others share with them what was measured of each (SRV-20).
    """

    def __init__(self, revisions: Mapping[str, str] = MappingProxyType({})) -> None:
        self._revisions = revisions
        self._known: dict[tuple[str, str], Speed] = {}

    def of(self, deployment: str) -> Speed:
        key = deployment, self._revisions.get(deployment, "")
        return self._known.setdefault(key, Speed())

    def under(self, revisions: Mapping[str, str]) -> Speeds:
        """The speeds of another policy: a model that it leaves as it is stays as fast."""
        shared = Speeds(revisions)
        shared._known = self._known
        return shared
