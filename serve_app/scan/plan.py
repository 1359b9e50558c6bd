"""Which windows of an input are left, in which order and in what runs (SCAN-2, SCAN-6, SCAN-9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
        self._ends: list[Window] = [found.tail]
        if found.head is not None:
            self._ends.insert(0, found.head)
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
        they would be and how many bytes the longest has (SCAN-9)."""
        stretches = self._stretches()
        # No run is longer than its stretch: beyond the longest of them nothing would change.
        for run in range(self._run + 1, max(map(len, stretches), default=0) + 1):
            size = max(self._longest(stretch, run) for stretch in stretches)
            if size > self._largest:
                return
            groups = sum(-(-len(stretch) // run) for stretch in stretches)
            if fits(len(self._ends) + groups, size):
                self._run, self._groups = run, groups
                return

    def _whole(self, run: range) -> Window:
        return Window(self._middle[run[0]].start, self._middle[run[-1]].end)

    def _longest(self, stretch: range, run: int) -> int:
        """Bytes of the longest of the runs that ``stretch`` is cut into."""
        firsts = self._middle[stretch.start : stretch.stop : run]
        lasts = self._middle[stretch.start + run - 1 : stretch.stop : run]
        sizes = [last.end - first.start for first, last in zip(firsts, lasts, strict=False)]
        sizes.append(self._middle[stretch.stop - 1].end - firsts[-1].start)  # it may be shorter
        return max(sizes)

    def _runs(self, run: int) -> Iterator[range]:
        """What is left of the middle in runs of neighbours, from left to right."""
        for stretch in self._stretches():
            for first in range(0, len(stretch), run):
                yield stretch[first : first + run]

    def _stretches(self) -> list[range]:
        """What is left of the middle in runs that are as long as can be, from left to right."""
        found: list[range] = []
        for index in sorted(self._order):
            if found and found[-1].stop == index:
                found[-1] = range(found[-1].start, index + 1)
            else:
                found.append(range(index, index + 1))
        return found
