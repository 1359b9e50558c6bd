"""Which windows of an input are left, in which order and in what runs (SCAN-2, SCAN-6, SCAN-9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from serve_app.config.sizes import Sizes
from serve_app.scan.text import Text
from serve_app.scan.windows import MOST, Window, cut, spread


class WindowPlan:
    """The tail, the head, then the middle by bisection from ``point`` on; at most ``MOST``.

    Windows of the middle that are left may be merged into runs of neighbours.
    """

    def __init__(self, text: Text, sizes: Sizes, point: float) -> None:
        self._largest = sizes.largest
        found = cut(text, sizes)
        self.tail = found.tail
        self._ends: list[Window] = [found.head, found.tail]
        self._middle: tuple[Window, ...] = found.middle
        self._order: dict[int, None] = dict.fromkeys(spread(len(found.middle), point))
        self._run = 1
        self._groups = len(self._order)
        self.taken = 0

    @property
    def planned(self) -> int:
        """Windows taken and windows left, those that may not be taken too."""
        return self.taken + len(self._ends) + self._groups

    @property
    def left(self) -> int:
        """Windows that may still be taken."""
        return min(MOST - self.taken, len(self._ends) + self._groups)

    def take(self) -> Window | None:
        if self.taken >= MOST:
            return None
        if self._ends:
            self.taken += 1
            return self._ends.pop()
        first = next(iter(self._order), None)
        if first is None:
            return None
        self.taken += 1
        self._groups -= 1
        if self._run == 1:
            del self._order[first]
            return self._middle[first]
        run = next(run for run in self._runs(self._run) if first in run)
        for index in run:
            del self._order[index]
        return self._whole(run)

    def merge(self, fits: Callable[[int, int], bool]) -> None:
        """Makes of the windows left the shortest runs that ``fits`` accepts, told how many windows
        they would be and how many bytes the longest has."""
        for run in range(self._run + 1, len(self._order) + 1):
            groups = list(self._runs(run))
            size = max(self._whole(group).size for group in groups)
            if size > self._largest:
                return
            if fits(len(self._ends) + len(groups), size):
                self._run, self._groups = run, len(groups)
                return
            if len(groups) == 1:
                return

    def _whole(self, run: range) -> Window:
        return Window(self._middle[run[0]].start, self._middle[run[-1]].end)

    def _runs(self, run: int) -> Iterator[range]:
        """What is left of the middle in runs of neighbours, from left to right."""
        left = sorted(self._order)
        first = 0
        for last, (here, there) in enumerate(pairwise([*left, -1])):
            if there != here + 1 or last - first + 1 == run:
                yield range(left[first], here + 1)
                first = last + 1
