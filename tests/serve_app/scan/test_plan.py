"""Windows that are merged: which runs, and how little that takes. SCAN-2, SCAN-9."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.config.sizes import Sizes
from serve_app.scan.plan import WindowPlan
from serve_app.scan.text import Text
from serve_app.scan.windows import MOST, Window, cut, spread

Fits = Callable[[int, int], bool]


class PlainPlan:
    """The plan in the words of the requirement: every length of a run is tried, each from the
    windows that are left. Ends of the input apart, which are never merged."""

    def __init__(self, text: Text, sizes: Sizes, point: float) -> None:
        found = cut(text, sizes)
        self.ends = [found.head, found.tail]
        self.middle = found.middle
        self.order = spread(len(found.middle), point)
        self.largest = sizes.largest
        self.run = 1
        self.taken = 0

    def runs(self, run: int) -> list[list[int]]:
        found = []
        for _, stretch in groupby(enumerate(sorted(self.order)), lambda one: one[1] - one[0]):
            left = [index for _, index in stretch]
            found += [left[i : i + run] for i in range(0, len(left), run)]
        return found

    def window(self, run: list[int]) -> Window:
        return Window(self.middle[run[0]].start, self.middle[run[-1]].end)

    def take(self) -> Window | None:
        if not self.left:
            return None
        self.taken += 1
        if self.ends:
            return self.ends.pop()
        run = next(run for run in self.runs(self.run) if self.order[0] in run)
        self.order = [index for index in self.order if index not in run]
        return self.window(run)

    @property
    def left(self) -> int:
        return min(MOST - self.taken, len(self.ends) + len(self.runs(self.run)))

    def merge(self, fits: Fits) -> None:
        for run in range(self.run + 1, len(self.order) + 1):
            windows = [self.window(group) for group in self.runs(run)]
            size = max(window.size for window in windows)
            if size > self.largest:
                return
            if fits(len(self.ends) + len(windows), size):
                self.run = run
                return


CHARACTERS = "a", "é", "漢", "😀"


@st.composite
def plans(draw: st.DrawFn) -> tuple[WindowPlan, PlainPlan]:
    """Of a text in which the same number of bytes holds more characters here than there."""
    window = draw(st.integers(16, 96))
    overlap = draw(st.integers(0, (window - 1) // 2 - 4))
    parts = st.tuples(st.sampled_from(CHARACTERS), st.integers(1, 12 * window))
    text = "".join(c * count for c, count in draw(st.lists(parts, min_size=1, max_size=4)))
    text += "x" * (window + 1)
    largest = draw(st.integers(window, 40 * window) | st.just(10**9))
    sizes = Sizes(window, 0.25, window, overlap, largest, 4, 3)
    point = draw(st.floats(0, 1, exclude_max=True))
    return WindowPlan(Text(text), sizes, point), PlainPlan(Text(text), sizes, point)


@st.composite
def judges(draw: st.DrawFn) -> Fits:
    """What would finish in time: by cost and a bound of each call, or at random."""
    each, per_byte = draw(st.integers(0, 50)), draw(st.integers(0, 4)) / 4
    bound, budget = draw(st.integers(1, 500)), draw(st.integers(1, 20_000))
    if draw(st.integers(0, 9)) == 0:
        salt = draw(st.integers(0, 1_000))
        return lambda windows, size: hash((windows, size, salt)) % 5 == 0

    def fits(windows: int, size: int) -> bool:
        took = each + per_byte * size
        return took <= bound and windows * took <= budget

    return fits


@settings(max_examples=1_000)
@given(plans(), st.lists(st.tuples(st.integers(0, 12), judges()), max_size=5))
def test_the_runs_are_those_that_a_plain_search_finds(
    both: tuple[WindowPlan, PlainPlan], steps: list[tuple[int, Fits]]
) -> None:
    """SCAN-9: the shortest that finish in time, whatever was read and merged before"""
    plan, plain = both
    for taken, fits in steps:
        assert [plan.take() for _ in range(taken)] == [plain.take() for _ in range(taken)]
        plan.merge(fits)
        plain.merge(fits)
        assert plan.left == plain.left
    while (window := plain.take()) is not None:
        assert plan.take() == window
    assert plan.take() is None


@pytest.mark.parametrize(("taken", "most"), [(0, 253), (18, 16), (66, 4), (130, 1)])
def test_no_run_is_tried_that_is_longer_than_a_stretch_that_is_left(taken: int, most: int) -> None:
    """SCAN-9: a scan that is late looks for runs at each of its answers"""
    sizes = Sizes(1_024, 0.25, 1_024, 128, 10**9, 4, 3)
    plan = WindowPlan(Text("x" * (254 * 896 + 128)), sizes, 0.3)
    for _ in range(taken):
        plan.take()
    tried: list[int] = []

    def never(windows: int, size: int) -> bool:
        tried.append(size)
        return False

    plan.merge(never)
    assert len(tried) < most
