"""In which order the windows of an input are read, in bytes: SCAN-2."""

from __future__ import annotations

from bisect import insort

from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.config.sizes import Sizes
from serve_app.scan.plan import WindowPlan
from serve_app.scan.text import Text
from serve_app.scan.windows import MOST, Window


def widest_gap(read: list[Window], size: int) -> int:
    """The most bytes in a row of an input of ``size`` that no window of ``read`` holds."""
    at, widest = 0, 0
    for window in sorted(read, key=lambda window: window.start):
        widest = max(widest, window.start - at)
        at = max(at, window.end)
    return max(widest, size - at)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Text, Sizes, float]:
    """Texts of up to 300 windows, in which characters take one to four bytes."""
    window = draw(st.integers(16, 64))
    overlap = draw(st.integers(0, (window - 1) // 2 - 4))
    pattern = "".join(draw(st.lists(st.sampled_from("aé漢😀"), min_size=1, max_size=9)))
    size = draw(st.integers(window + 1, window * draw(st.sampled_from([5, 40, 300]))))
    text = Text(pattern * (size // len(pattern.encode()) + 1))
    sizes = Sizes(window, 0.25, window, overlap, draw(st.integers(window, 4 * window)), 4, 3)
    return text, sizes, draw(st.floats(0, 1, exclude_max=True))


@settings(max_examples=1_000)
@given(plans())
def test_the_widest_gap_shrinks_as_by_bisection_after_tail_and_head(
    given_plan: tuple[Text, Sizes, float],
) -> None:
    """SCAN-2: in bytes, wherever it begins; after n windows it is no longer than twice an equal
    share, but for the window that a share is rounded by"""
    text, sizes, point = given_plan
    plan = WindowPlan(text, sizes, point)
    first, second = plan.take(), plan.take()
    assert first is not None
    assert first.end == text.size
    if second is None:
        return
    assert second.start == 0
    read = [first, second]
    between = max(0, first.start - second.end)
    longest = 0
    taken: list[Window] = []
    while (window := plan.take()) is not None:
        taken.append(window)
        longest = max(longest, window.size)
    for number, window in enumerate(taken, start=1):
        read.append(window)
        share = 1 << (number.bit_length() - 1)
        assert widest_gap(read, text.size) <= between / share + 2 * longest
    starts: list[int] = []
    for window in taken:
        insort(starts, window.start)
    if taken:
        assert taken[0].start == starts[int(point * len(starts))] or len(taken) + 2 == MOST
