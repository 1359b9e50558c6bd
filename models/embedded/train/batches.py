"""Examples as tensors: tokenised once, packed by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.embedded.described import Described, queries_of
from models.embedded.head import Queries
from models.embedded.tokenizer import CHUNK, END, PAD, START, Tokens
from models.embedded.train.examples import SpanTruth, Truth
from models.questions.types import Question, QuestionType

IGNORED: Final = -100


@dataclass(frozen=True)
class Ask:
    """A question of a prepared example. ``name`` groups figures, ``weight`` scales the loss."""

    name: str
    question: Question
    truth: Truth
    weight: float = 1.0


@dataclass(frozen=True)
class Prepared:
    """A tokenised state with its questions; ``cluster`` names its brief, ``anchor`` is the frozen
    encoder's vector of it."""

    cluster: str
    tokens: Tokens
    asks: tuple[Ask, ...]
    anchor: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Encoded:
    """``(n, t)`` token ids, true for tokens, shapes, occurrences, forms; of a state one chunk."""

    ids: Tensor
    mask: Tensor
    shapes: Tensor
    occurrences: Tensor
    forms: Tensor


@dataclass(frozen=True)
class Choices:
    """Softmaxes over options: ``index`` ``(q, m)`` into the flat logits, -1 for none, ``target``
    ``(q,)`` and ``weight`` ``(q,)``."""

    index: Tensor
    target: Tensor
    weight: Tensor


@dataclass(frozen=True)
class Labels:
    """Sigmoids: ``index``, ``target``, ``weight``, each ``(q,)``."""

    index: Tensor
    target: Tensor
    weight: Tensor


@dataclass(frozen=True)
class Tags:
    """A span question of state ``row``: its options from ``first`` on, ``count`` of them, and the
    ``(t,)`` tag of each token."""

    row: int
    first: int
    count: int
    target: Tensor
    weight: float


@dataclass(frozen=True)
class Batch:
    encoded: Encoded
    queries: Queries
    choices: Choices
    labels: Labels
    tags: tuple[Tags, ...]
    anchors: Tensor | None = None


def encoded_of(rows: Sequence[Tokens]) -> Encoded:
    """The first chunk of each text, padded to the longest."""
    longest = max(len(row.chunks[0]) for row in rows) + 2
    padded = -(-longest // 8) * 8
    ids = np.full((len(rows), padded), PAD, dtype=np.int64)
    shapes = np.zeros((len(rows), padded), dtype=np.int64)
    occurrences = np.zeros((len(rows), padded), dtype=np.int64)
    forms = np.zeros((len(rows), padded), dtype=np.int64)
    lengths = np.empty(len(rows), dtype=np.int64)
    for i, row in enumerate(rows):
        chunk = row.chunks[0]
        n = len(chunk)
        ids[i, : n + 2] = (START, *chunk, END)
        if row.layout is not None:
            shapes[i, 1 : n + 1] = row.layout.shapes[:n]
            occurrences[i, 1 : n + 1] = row.layout.occurrences[:n]
            forms[i, 1 : n + 1] = row.layout.forms[:n]
        lengths[i] = n + 2
    mask = np.arange(padded) < lengths[:, None]
    return Encoded(*map(torch.from_numpy, (ids, mask, shapes, occurrences, forms)))


def batch_of(rows: Sequence[Prepared], described: Mapping[bytes, Described]) -> Batch:
    encoded = encoded_of([row.tokens for row in rows])
    asked = [[described[ask.question.digest()] for ask in row.asks] for row in rows]
    queries = queries_of(asked)
    most = queries.kind.shape[1]
    softmaxes: list[tuple[range, int, float]] = []
    sigmoids: list[tuple[int, bool, float]] = []
    tags: list[Tags] = []
    for i, (row, questions) in enumerate(zip(rows, asked, strict=True)):
        at = i * most
        for ask, of_question in zip(row.asks, questions, strict=True):
            count = len(of_question.kind)
            options = range(at, at + count)
            truth = ask.truth
            if ask.question.type is QuestionType.SPAN:
                assert isinstance(truth, tuple)
                keys = [option.key for option in ask.question.options]
                target = tags_of(row.tokens, truth, keys, encoded.ids.shape[1])
                first = at - i * most
                tags.append(Tags(i, first, count, torch.from_numpy(target), ask.weight))
            elif isinstance(truth, frozenset):
                share = ask.weight * count**-0.5
                sigmoids += [(at + j, j in truth, share) for j in range(count)]
            else:
                assert isinstance(truth, int)
                answer = int(not truth) if isinstance(truth, bool) else truth  # yes is first
                softmaxes.append((options, answer, ask.weight))
            at += count
    return Batch(
        encoded,
        queries,
        _choices(softmaxes),
        Labels(
            torch.tensor([s[0] for s in sigmoids], dtype=torch.long),
            torch.tensor([float(s[1]) for s in sigmoids]),
            torch.tensor([s[2] for s in sigmoids]),
        ),
        tuple(tags),
        _anchors(rows),
    )


def _anchors(rows: Sequence[Prepared]) -> Tensor | None:
    anchors = [row.anchor for row in rows if row.anchor is not None]
    return torch.from_numpy(np.stack(anchors)) if len(anchors) == len(rows) else None


def _choices(rows: Sequence[tuple[range, int, float]]) -> Choices:
    most = max((len(options) for options, _, _ in rows), default=1)
    index = np.full((len(rows), most), -1, dtype=np.int64)
    for i, (options, _, _) in enumerate(rows):
        index[i, : len(options)] = options
    return Choices(
        torch.from_numpy(index),
        torch.tensor([target for _, target, _ in rows], dtype=torch.long),
        torch.tensor([weight for _, _, weight in rows]),
    )


def tags_of(
    tokens: Tokens, truth: Sequence[SpanTruth], labels: Sequence[str], padded: int
) -> NDArray[np.int64]:
    """``(padded,)``: 0 outside, ``1 + 2 k`` the first token of a span of label ``k``, ``2 + 2 k`` a
    further one; the marks and padding are ``IGNORED``."""
    layout = tokens.layout
    assert layout is not None
    n = min(len(tokens.chunks[0]), CHUNK)
    tags = np.full(padded, IGNORED, dtype=np.int64)
    tags[1 : n + 1] = 0
    for label, start, end in truth:
        if label not in labels:
            continue
        inside = np.flatnonzero((layout.starts[:n] < end) & (layout.ends[:n] > start))
        tags[inside + 1] = 2 + 2 * labels.index(label)
        tags[inside[:1] + 1] -= 1
    return tags
