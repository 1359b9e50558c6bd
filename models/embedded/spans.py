"""Token tags as spans of the original text (S1-15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.embedded.tokenizer import Layout
from models.questions.types import Span

Tags = NDArray[np.float32]
"""``(tokens, 1 + 2 labels)`` log probabilities: outside, then of each label the first token of a
span and a further one."""

WITHIN: Final = 2.0
"""What a new span costs that begins where another ends, without a space between: in nats. Chosen
on the calibration briefs."""

_SILENT: Final = -0.02
"""Log probability of outside above which a word is in no span: most of a text is decoded so."""


def spans_of(tags: Tags, layout: Layout, labels: Sequence[str], text: str) -> tuple[Span, ...]:
    """The spans of the likeliest sequence of tags, in order (Viterbi 1967): a span goes on with its
    own label alone, and no span begins or ends within a word.

    A span's probability is the geometric mean of its tokens' probabilities of its label.
    """
    found = [
        (label, first + start, last + start)
        for start, end in _loud(tags, layout)
        for label, first, last in _decoded(tags[start:end], _part(layout, start, end))
    ]
    return tuple(_span(tags, layout, labels, text, *each) for each in found)


def _loud(tags: Tags, layout: Layout) -> list[tuple[int, int]]:
    """Ranges of whole words that may be in spans."""
    if not len(tags):
        return []
    word = np.cumsum(~layout.continues) - (0 if layout.continues[0] else 1)
    loud = np.zeros(int(word[-1]) + 1, dtype=bool)
    loud[word[tags[:, 0] <= _SILENT]] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loud[word], [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _part(layout: Layout, start: int, end: int) -> Layout:
    return Layout(*(getattr(layout, f.name)[start:end] for f in fields(layout)))


def _decoded(tags: Tags, layout: Layout) -> list[tuple[int, int, int]]:
    """Label, first and last token of each span."""
    n = len(tags)
    outside = tags[:, 0].astype(np.float64)
    first, further = tags[:, 1::2].astype(np.float64), tags[:, 2::2].astype(np.float64)
    either = np.logaddexp(first, further)
    touching = np.zeros(n, dtype=bool)
    touching[1:] = layout.starts[1:] == layout.ends[:-1]
    began = np.zeros(first.shape, dtype=bool)  # a span of this label begins at this token
    before = np.full(first.shape, -1)  # the label before such a beginning, -1 for outside
    ended = np.full(n, -1)  # the label before this token, where it is outside
    best_out, best = outside[0], first[0].copy()
    began[0] = True
    for t in range(1, n):
        if layout.continues[t]:
            best_out += outside[t]
            best = best + either[t]
            continue
        top = int(best.argmax())
        cost = WITHIN if touching[t] else 0.0
        from_span = best[top] - cost > best_out
        start = (best[top] - cost if from_span else best_out) + first[t]
        goes_on = best + further[t]
        began[t] = start > goes_on
        before[t] = top if from_span else -1
        if best[top] > best_out:
            ended[t] = top
        best_out = max(best_out, best[top]) + outside[t]
        best = np.maximum(start, goes_on)
    label = int(best.argmax()) if best.max() > best_out else -1
    return _traced(label, layout, began, before, ended)


def _traced(
    label: int,
    layout: Layout,
    began: NDArray[np.bool_],
    before: NDArray[np.int64],
    ended: NDArray[np.int64],
) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    last = len(began) - 1
    for t in range(len(began) - 1, -1, -1):
        if layout.continues[t] and t > 0:
            continue
        if label < 0:
            label, last = int(ended[t]), t - 1
        elif began[t, label] or t == 0:
            found.append((label, t, last))
            label, last = int(before[t, label]), t - 1
    return found[::-1]


def _span(
    tags: Tags, layout: Layout, labels: Sequence[str], text: str, label: int, first: int, last: int
) -> Span:
    columns = tags[first : last + 1, 1 + 2 * label : 3 + 2 * label].astype(np.float64)
    logs = np.logaddexp(columns[:, 0], columns[:, 1])
    start, end = int(layout.starts[first]), int(layout.ends[last])
    probability = min(1.0, float(np.exp(logs.mean())))
    return Span(labels[label], start, end, text[start:end], probability)
