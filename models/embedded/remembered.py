"""What the engine keeps of the questions it has read: together at most 72 MB, whatever is asked."""

from __future__ import annotations

from typing import Final

from models.embedded.scoring import Scorer, Vectors
from models.lru import Lru

TEXTS: Final = 16_384
"""Texts kept: 25 MB of vectors."""

QUESTIONS: Final = 1_024
"""Assembled questions kept."""

TEXTS_BYTES: Final = 40 * 2**20
QUESTIONS_BYTES: Final = 32 * 2**20


def vectors() -> Lru[str, Vectors]:
    """Text -> its vector, encoded once: at most 40 MB, and no text of more than 64 kB."""
    return Lru(TEXTS, TEXTS_BYTES, 2**16)


def scorers() -> Lru[bytes, Scorer]:
    """Digest of a question -> the question assembled: at most 32 MB, and none of more than 1 MB,
    which are some 600 elements of descriptions; a larger one is assembled from its texts again.
    """
    return Lru(QUESTIONS, QUESTIONS_BYTES, 2**20)
