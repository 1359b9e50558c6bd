"""Windows that are to be read once more, and for which rules (SCAN-7, SCAN-8)."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from models.questions.types import AnswerError
from serve_app.scan.windows import Window

AT_ONCE: Final = 0.5
"""Share of the margin up to which a window is read again before all others (SCAN-7)."""

Again = tuple[Window, tuple[int, ...]]
"""A window to be read once more, and the rules it is read for."""


@dataclass(slots=True)
class _Owed:
    """Of a rule: windows it needs once more, true where they are parts of larger ones; the windows
    of the configured size that were read for it, in order; why one was not read again."""

    windows: dict[Window, bool] = field(default_factory=dict)
    read: list[tuple[int, int]] = field(default_factory=list)
    error: AnswerError | None = None


class Rereads:
    """``rules``: how many there are; ``size``: bytes of a window of the configured size."""

    def __init__(self, rules: int, size: int) -> None:
        self._owed = [_Owed() for _ in range(rules)]
        self._size = size
        self._soon: deque[Again] = deque()
        self._later: list[tuple[float, int, Again]] = []
        self._number = count()

    @property
    def soon(self) -> bool:
        """Whether a window is to be read again before any other is sent."""
        return any(self._open(again) for again in self._soon)

    @property
    def later(self) -> bool:
        """Whether one is to be read again when the others were read."""
        return any(self._open(again) for _, _, again in self._later)

    def plan_parts(self, windows: Iterable[Window], near: Mapping[int, float], soon: float) -> None:
        """Parts of a larger window that came ``near`` rules, by how much. They are read at once
        where the nearest gap is no more than ``soon``, for all these rules."""
        gap = min(near.values())
        for window in windows:
            again = self._needed(window, near, part=True)
            if gap <= soon:
                self._soon.append(again)
            else:
                heapq.heappush(self._later, (gap, next(self._number), again))

    def plan_half(self, window: Window, near: Mapping[int, float]) -> None:
        """The last half of the tail, whose whole was read (SCAN-8)."""
        self._soon.append(self._needed(window, near, part=False))

    def take(self, *, soon: bool) -> Again | None:
        """The next window that some rule still needs, of those that wait for no other or of the
        rest, nearest first."""
        while self._soon if soon else self._later:
            again = self._soon.popleft() if soon else heapq.heappop(self._later)[2]
            if rules := self._open(again):
                return again[0], rules
        return None

    def read(self, index: int, window: Window) -> None:
        """``window`` was read for the rule at ``index``."""
        owed = self._owed[index]
        owed.windows.pop(window, None)
        if window.size <= self._size:
            insort(owed.read, (window.start, window.end))

    def failed(self, index: int, error: AnswerError) -> None:
        owed = self._owed[index]
        owed.error = owed.error or error

    def decided(self, index: int) -> None:
        """The rule needs nothing once more."""
        self._owed[index].windows.clear()

    def diluted(self, index: int) -> bool:
        """Whether the rule at ``index`` lacks an answer that it needs before it judges."""
        return any(self._lacks(index, window) for window in self._owed[index].windows)

    def error(self, index: int) -> AnswerError | None:
        return self._owed[index].error

    def _needed(self, window: Window, near: Mapping[int, float], *, part: bool) -> Again:
        for index in near:
            self._owed[index].windows[window] = part
        return window, tuple(sorted(near))

    def _open(self, again: Again) -> tuple[int, ...]:
        """The rules that still need the window."""
        window, rules = again
        return tuple(index for index in rules if self._lacks(index, window))

    def _lacks(self, index: int, window: Window) -> bool:
        """Whether the rule still needs the window. A part is not, where a window that holds it was
        read: cuts at boundaries of characters may leave one that the next larger window's first
        part holds."""
        owed = self._owed[index]
        part = owed.windows.get(window)
        if not part:
            return part is False
        first = bisect_left(owed.read, (window.end - self._size, 0))
        last = bisect_left(owed.read, (window.start + 1, 0))
        return not any(end >= window.end for _, end in owed.read[first:last])
