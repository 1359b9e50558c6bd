"""Where a long input is cut and in which order it is read: SCAN-1, SCAN-2, SCAN-6."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.config.sizes import Sizes
from serve_app.scan.text import Text
from serve_app.scan.windows import MOST, Window, cut, pieces, spread

CHARACTERS = "a", "é", "漢", "😀", "e\u0301", "\ud800"
"""Of one to four bytes, one of two code points, a lone surrogate."""

LONGEST = 4
"""Bytes of a character."""


@st.composite
def inputs(draw) -> tuple[str, Sizes]:
    """A text of more than a window, in which any character may stand at a cut; one in five of more
    than 256, of which those in the middle are larger."""
    window = draw(st.integers(16, 96))
    overlap = draw(st.integers(0, (window - 1) // 2 - 4))
    largest = draw(st.integers(window, 4 * window))
    pattern = "".join(draw(st.lists(st.sampled_from(CHARACTERS), min_size=1, max_size=30)))
    least, most = (256, 700) if draw(st.integers(0, 4)) == 0 else (1, 60)
    size = draw(st.integers(least * window + 1, most * window))
    text = pattern * (size // len(pattern.encode("utf-8", "surrogatepass")) + 1)
    return text, Sizes(window, 0.25, window, overlap, largest, 4, 3)


@settings(max_examples=1_000)
@given(inputs())
def test_windows_cover_every_byte_at_boundaries_of_characters(given_input):
    """SCAN-1: none longer than it may be"""
    text, sizes = given_input
    whole = Text(text)
    found = cut(whole, sizes)
    at = 0
    for window in found.windows:
        assert window.start <= at
        at = max(at, window.end)
        whole.between(window.start, window.end)  # decodes
        assert 0 < window.size <= sizes.largest
    assert at == whole.size
    assert found.head.start == 0
    assert found.tail.end == whole.size


@settings(max_examples=1_000)
@given(inputs())
def test_head_and_tail_are_as_long_as_a_window_up_to_a_character(given_input):
    """SCAN-7: whatever the size of those between them"""
    text, sizes = given_input
    found = cut(Text(text), sizes)
    assert sizes.window - LONGEST < found.head.size <= sizes.window
    assert sizes.window - LONGEST < found.tail.size <= sizes.window


@settings(max_examples=1_000)
@given(inputs())
def test_no_more_than_256_windows_are_cut_that_may_be_larger(given_input):
    """SCAN-6: more only where the largest are too small, and larger only where more were needed"""
    text, sizes = given_input
    whole = Text(text)
    found = cut(whole, sizes)
    if len(found.windows) > MOST:
        assert all(window.size > sizes.largest - LONGEST for window in found.middle[:-1])
    elif any(window.size > sizes.window for window in found.middle):
        middle = Window(found.middle[0].start, found.middle[-1].end)
        assert len(list(pieces(whole, middle, sizes.window, sizes.overlap))) > MOST - 2


@settings(max_examples=1_000)
@given(inputs(), st.data())
def test_what_is_as_long_as_the_overlap_is_whole_in_some_window(given_input, data):
    """SCAN-1: wherever it stands"""
    text, sizes = given_input
    whole = Text(text)
    windows = cut(whole, sizes).windows
    start = whole.down(data.draw(st.integers(0, whole.size - 1)))
    end = whole.down(min(whole.size, start + sizes.overlap))
    assert any(window.holds(Window(start, end)) for window in windows)


@settings(max_examples=1_000)
@given(inputs())
def test_no_window_is_read_twice(given_input):
    """SCAN-1: none lies within another"""
    text, sizes = given_input
    windows = cut(Text(text), sizes).windows
    starts = [window.start for window in windows]
    ends = [window.end for window in windows]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))


@settings(max_examples=1_000)
@given(st.integers(1, 600), st.floats(0, 1, exclude_max=True))
def test_any_prefix_of_the_order_is_spread(count, point):
    """SCAN-2: after n windows no run that is left is longer than twice an equal share"""
    order = spread(count, point)
    assert sorted(order) == list(range(count))
    assert order[0] == int(point * count)
    read: list[int] = []
    for number, index in enumerate(order[:64], start=1):
        read.append(index)
        there = sorted(read)
        gaps = [b - a for a, b in zip(there, [*there[1:], there[0] + count], strict=True)]
        share = 1 << (number.bit_length() - 1)
        assert max(gaps) <= count / share + 1


@pytest.mark.parametrize(
    ("size", "windows", "largest"),
    [(300_000, 255, 1_310), (1_500_000, 256, 6_034), (8 * 2**20, 268, 31_744)],
)
def test_a_long_input_is_read_in_256_windows_of_which_the_ends_are_small(size, windows, largest):
    """SCAN-6: as large as it takes, up to the largest"""
    sizes = Sizes(1_024, 0.25, 1_024, 128, 31_744, 4, 3)
    found = cut(Text("x" * size), sizes)
    assert len(found.windows) == windows
    assert found.head.size == found.tail.size == 1_024
    assert max(window.size for window in found.middle) == largest


@pytest.mark.parametrize("size", [0, 1, 40, 100])
def test_what_is_no_longer_than_a_window_is_one(size):
    """SCAN-1: only what is longer is cut"""
    found = cut(Text("x" * size), Sizes(100, 0.25, 100, 10, 100, 4, 3))
    assert found.windows == (Window(0, size),)


def test_what_256_windows_hold_is_read_at_the_configured_size():
    """SCAN-6: and one byte more is not"""
    sizes = Sizes(100, 0.25, 100, 0, 400, 4, 3)
    windows = cut(Text("x" * 25_600), sizes).windows
    assert [window.size for window in windows] == [100] * MOST
    assert max(window.size for window in cut(Text("x" * 25_601), sizes).windows) > 100


def test_only_what_is_longer_than_256_of_the_largest_windows_needs_more():
    """SCAN-6: 1.57 MB at windows of 6,144 new bytes"""
    sizes = Sizes(8_192, 0.25, 8_192, 2_048, 8_192, 4, 3)
    assert len(cut(Text("x" * 1_570_000), sizes).windows) <= MOST
    assert len(cut(Text("x" * 1_580_000), sizes).windows) > MOST


@settings(max_examples=1_000)
@given(st.text(st.sampled_from("".join(CHARACTERS)), max_size=200), st.data())
def test_bytes_and_code_points_are_counted_alike(text, data):
    """SCAN-4: spans leave the router in code points of the original"""
    whole = Text(text)
    for _ in range(5):
        at = whole.down(data.draw(st.integers(0, whole.size)))
        assert whole.code_points(at) == len(whole.between(0, at))
        assert whole.up(at) == at
