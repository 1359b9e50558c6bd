"""Text as chunks of WordPiece tokens that the encoder can read (SRV-17)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

CHUNK: Final = 254
"""Most tokens of a chunk; with its two marks it takes 256 of the encoder's 512 positions."""

BUCKETS: Final = (32, 64, 128, 256)
"""Padded lengths of a chunk, marks included. Few, so that rows of many lengths may share a
forward: it computes padding in its attention alone, a small part of its time."""

PAD: Final = 0
UNKNOWN: Final = 100
START: Final = 101
END: Final = 102

_LONGEST_WORD: Final = 100  # WordPiece makes one unknown token of anything longer
_PIECE: Final = 32  # characters; normalising makes at most three of one
_SLICE: Final = 65_536  # characters tokenised at a time, to stop early in a text that is too long
_LONG_WORD: Final = re.compile(r"[^\s!-/:-@\[-`{-~]{34,}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """``chunks``: token ids without marks, near-equal in length, at least one.

    ``complete`` is false for a text of more than the allowed tokens: then ``count`` is how many
    were read until that showed, and there are no chunks.
    """

    chunks: tuple[tuple[int, ...], ...]
    count: int
    unknown: int
    complete: bool = True

    @property
    def unknown_share(self) -> float:
        return self.unknown / self.count if self.count else 0.0

    @property
    def bucket(self) -> int:
        """The padded length of the longest chunk."""
        return bucket_of(max(map(len, self.chunks), default=0))

    @property
    def computed(self) -> int:
        """Tokens that a forward computes for the chunks: theirs and two marks each."""
        return sum(len(chunk) + 2 for chunk in self.chunks)


class ChunkTokenizer:
    """Thread-safe: the tokenizer below is, and nothing else is kept."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text

    def tokens(self, text: str, most: int) -> Tokens:
        """The tokens of ``text``, which may have ``most``; nothing is ever cut off."""
        ids: list[int] = []
        for part in _slices(_readable(text)):
            ids += self._tokenizer.encode(part, add_special_tokens=False).ids
            if len(ids) > most:
                return Tokens((), len(ids), ids.count(UNKNOWN), complete=False)
        return Tokens(_chunks(ids), len(ids), ids.count(UNKNOWN))


def bucket_of(tokens: int) -> int:
    """The padded length of a chunk of ``tokens`` tokens."""
    return next(bucket for bucket in BUCKETS if bucket >= tokens + 2)


def _chunks(ids: list[int]) -> tuple[tuple[int, ...], ...]:
    count = max(1, -(-len(ids) // CHUNK))
    bounds = [len(ids) * i // count for i in range(count + 1)]
    return tuple(tuple(ids[a:b]) for a, b in pairwise(bounds))


def _readable(text: str) -> str:
    """``text`` with lone surrogates replaced and long words split: one over 100 characters would
    become a single unknown token, and so stay unread."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return _LONG_WORD.sub(_split, text)


def _split(match: re.Match[str]) -> str:
    word = match.group()
    if len(unicodedata.normalize("NFD", word)) <= _LONGEST_WORD:
        return word
    return " ".join(word[i : i + _PIECE] for i in range(0, len(word), _PIECE))


def _slices(text: str) -> Iterator[str]:
    """``text`` in slices that end at white space, where tokens end as well."""
    start = 0
    while len(text) - start > _SLICE:
        end = max(text.rfind(" ", start, start + _SLICE), text.rfind("\n", start, start + _SLICE))
        end = start + _SLICE if end <= start else end
        yield text[start:end]
        start = end
    yield text[start:]
