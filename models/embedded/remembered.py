"""What the engine keeps of the questions it has read: at most 136 MB, whatever is asked."""

from __future__ import annotations

from typing import Final

from models.embedded.asking import Asking, Assembled
from models.embedded.texts import Vectors
from models.lru import Lru

TEXTS: Final = 16_384
"""Texts kept: 25 MB of vectors."""

QUESTIONS: Final = 1_024
"""Assembled questions kept, and as many combinations of them."""

KEPT_CHARACTERS: Final = 2**18
"""Of a question's texts: blanks are no tokens, so no limit on tokens bounds them."""

TEXTS_BYTES: Final = 40 * 2**20
QUESTIONS_BYTES: Final = 48 * 2**20
ASKINGS_BYTES: Final = 48 * 2**20


def vectors() -> Lru[str, Vectors]:
    """Text -> its vector, encoded once: at most 40 MB, and no text of more than 64 kB."""
    return Lru(TEXTS, TEXTS_BYTES, 2**16)


def questions() -> Lru[bytes, Assembled]:
    """Digest of a question -> the question assembled: at most 48 MB, and none of more than 2 MB,
    which are some 250 options; a larger one is assembled from its texts again.
    """
    return Lru(QUESTIONS, QUESTIONS_BYTES, 2**21)


def askings() -> Lru[tuple[bytes, ...], Asking]:
    """Digests of questions -> what asks them together: at most 48 MB, none of more than 4 MB."""
    return Lru(QUESTIONS, ASKINGS_BYTES, 2**22)
