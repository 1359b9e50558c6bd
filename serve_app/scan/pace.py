"""How fast a scan goes, and when it would be done (SCAN-9)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

IN_TIME: Final = 1e-9
"""Seconds that sums of the same times may differ by."""


@dataclass(slots=True)
class Pace:
    """How fast a scan goes: ``each_s`` a window, by its last answers; ``parallel``: the most that
    were out at once; ``changed``: since it was last looked at."""

    each_s: float = 0.0
    parallel: int = 1
    changed: bool = False

    def answered(self, seconds: float) -> None:
        share = 0.5 if self.each_s else 1.0
        self.each_s += share * (seconds - self.each_s)
        self.changed = True

    def done_in(self, windows: int, each_s: float, out_s: Iterable[float]) -> float:
        """Seconds until so many more windows are read that take ``each_s`` each, as many at once as
        before. ``out_s``: what those still take that are out, in whose places others follow."""
        free = [max(0.0, seconds) for seconds in out_s]
        free += [0.0] * (self.parallel - len(free))
        heapq.heapify(free)
        for _ in range(windows):
            heapq.heapreplace(free, free[0] + each_s)
        return max(free)
