"""Windows over a long input: where it is cut, and in which order it is read (SCAN-1, -2, -6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from serve_app.config.sizes import Sizes
from serve_app.scan.text import Text

MOST: Final = 256
"""Windows that one input is read in (SCAN-6)."""

_SLACK: Final = 8
"""Bytes that a cut at a boundary may cost a window at its two ends, rounded up."""


@dataclass(frozen=True, slots=True)
class Window:
    """Bytes ``start`` to ``end`` of the input, both at boundaries of characters."""

    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start

    def holds(self, other: Window) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Cut:
    """``head``, the windows of the ``middle`` from left to right, ``tail``. Whatever stands in the
    input within ``overlap`` bytes is whole in one of them. Without a head the tail is all of it."""

    head: Window | None
    middle: tuple[Window, ...]
    tail: Window

    @property
    def windows(self) -> tuple[Window, ...]:
        return (self.tail,) if self.head is None else (self.head, *self.middle, self.tail)


def cut(text: Text, sizes: Sizes) -> Cut:
    """Cuts an input of more than ``sizes.window`` bytes; the cuts depend on it alone.

    Where windows of that size would be more than ``MOST``, those of the middle are larger, up to
    ``sizes.largest``.
    """
    if text.size <= sizes.window:
        return Cut(None, (), Window(0, text.size))
    head = Window(0, text.down(sizes.window))
    tail = Window(text.up(text.size - sizes.window), text.size)
    between = Window(text.down(head.end - sizes.overlap), text.up(tail.start + sizes.overlap))
    if head.end >= between.end:
        return Cut(head, (), tail)
    size = sizes.window
    middle = tuple(pieces(text, between, size, sizes.overlap))
    if len(middle) > MOST - 2:
        count = MOST - 2
        needed = -(-(between.size + (count - 1) * sizes.overlap) // count) + _SLACK
        size = min(needed, sizes.largest)
        middle = tuple(pieces(text, between, size, sizes.overlap))
    return Cut(head, middle, tail)


def pieces(text: Text, whole: Window, size: int, overlap: int) -> Iterator[Window]:
    """``whole`` in windows of at most ``size`` bytes, of which neighbours share ``overlap`` at
    least."""
    start = whole.start
    while True:
        end = min(text.down(start + size), whole.end)
        yield Window(start, end)
        if end >= whole.end:
            return
        start = text.down(end - overlap)


def spread(count: int, point: float) -> list[int]:
    """The indices below ``count`` by bisection: after any number of them the longest run that is
    left out is about as short as can be. ``point``, from 0 to 1, moves where it begins, round the
    end (SCAN-2)."""
    bits = max(1, (count - 1).bit_length())
    size = 1 << bits
    first = min(int(point * count), count - 1)
    order = dict.fromkeys(
        int(f"{i:0{bits}b}"[::-1], 2) * count // size for i in range(size if count else 0)
    )
    return [(index + first) % count for index in order]
