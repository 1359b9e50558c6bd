"""A question's texts as the frozen encoder's vectors, computed once per text (COST-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.embedded.encoder import Encoder
from models.embedded.tokenizer import END, PAD, START, Tokens

Vectors: TypeAlias = NDArray[np.float32]

FORWARD_TOKENS: Final = 8_192
"""Padded tokens of texts encoded at a time, to bound memory."""


def encoded(encoder: Encoder, texts: Mapping[str, Tokens], bucket: int) -> dict[str, Vectors]:
    """Text -> ``(width,)``, the mean direction of its chunks, of texts of one bucket."""
    chunks = [chunk for tokens in texts.values() for chunk in tokens.chunks]
    step = max(1, FORWARD_TOKENS // bucket)
    parts = [
        encoder.encode(*marked(chunks[i : i + step], bucket)) for i in range(0, len(chunks), step)
    ]
    together = np.concatenate(parts)
    vectors: dict[str, Vectors] = {}
    start = 0
    for text, tokens in texts.items():
        mean = together[start : start + len(tokens.chunks)].mean(axis=0)
        start += len(tokens.chunks)
        vectors[text] = mean / np.linalg.norm(mean)
    return vectors


def marked(
    chunks: Sequence[tuple[int, ...]], bucket: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(n, bucket)`` ids with their marks, and lengths."""
    ids: NDArray[np.int64] = np.full((len(chunks), bucket), PAD, dtype=np.int64)
    lengths = np.empty(len(chunks), dtype=np.int64)
    for i, chunk in enumerate(chunks):
        ids[i, : len(chunk) + 2] = (START, *chunk, END)
        lengths[i] = len(chunk) + 2
    return ids, lengths
