"""Spans found in windows, as spans of the whole input (SCAN-4)."""

from __future__ import annotations

from collections.abc import Iterable

from models.questions.types import Span


def moved(spans: Iterable[Span], by: int) -> list[Span]:
    """``spans`` of a window whose first character is the input's character ``by``."""
    return [Span(s.label, s.start + by, s.end + by, s.text, s.probability) for s in spans]


def joined(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """What windows of ``text`` that overlap found more than once, once: spans of one label that
    share a character are one, from the first's start to the last's end, as sure as the surest."""
    found: list[tuple[str, int, int, float]] = []
    for span in sorted(spans, key=lambda s: (s.label, s.start, s.end)):
        if found and found[-1][0] == span.label and span.start < found[-1][2]:
            label, start, end, probability = found[-1]
            found[-1] = label, start, max(end, span.end), max(probability, span.probability)
        else:
            found.append((span.label, span.start, span.end, span.probability))
    found.sort(key=lambda s: (s[1], s[2], s[0]))
    return tuple(Span(label, a, b, text[a:b], p) for label, a, b, p in found)
