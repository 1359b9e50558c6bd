"""Text as chunks of WordPiece tokens that the encoder can read (SRV-17)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.embedded.features import forms, occurrences, shapes
from models.embedded.reading import Readable, readable
from models.embedded.words import WordSplitter

CHUNK: Final = 254
"""Most tokens of a chunk; with its two marks it takes 256 of the encoder's 512 positions."""

BUCKETS: Final = (32, 64, 128, 256)
"""Padded lengths of a chunk, marks included. Few, so that rows of many lengths may share a
forward: it computes padding in its attention alone, a small part of its time."""

PAD: Final = 0
UNKNOWN: Final = 100
START: Final = 101
END: Final = 102

CHARACTERS_A_TOKEN: Final = 4
"""Of a text that is not read: what a token of English has."""

OPAQUE_CHARACTERS_A_TOKEN: Final = 16
"""Of an encoded run that is no text. Digests and keys stand in many a log and are no attack; a text
that is nothing else is still unread."""

_SLICE: Final = 65_536  # characters tokenised at a time, to stop early in a text that is too long


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the tokens of a text stand in it, and how they look.

    ``starts``, ``ends``: ``(count,)`` code points of the original text; ``shapes``,
    ``occurrences``, ``forms``: ``(count,)``, see ``features``; ``continues``: of each whether it
    goes on with the word before it.
    """

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    shapes: NDArray[np.uint8]
    occurrences: NDArray[np.uint8]
    forms: NDArray[np.uint8]
    continues: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tokens:
    """``chunks``: token ids without marks, near-equal in length, at least one.

    ``unread_share``: of the text, what says nothing to the model: unknown words, scripts that it
    does not read, opaque runs, hidden characters. ``complete`` is false for a text of more than the
    allowed tokens: then ``count`` is how many were read until that showed, and there are no chunks.
    ``layout`` is that of a state; a question's texts have none.
    """

    chunks: tuple[tuple[int, ...], ...]
    count: int
    unread_share: float
    complete: bool = True
    layout: Layout | None = None

    @property
    def bucket(self) -> int:
        """The padded length of the longest chunk."""
        return bucket_of(max(map(len, self.chunks), default=0))

    @property
    def computed(self) -> int:
        """Tokens that a forward computes for the chunks: theirs and two marks each."""
        return sum(len(chunk) + 2 for chunk in self.chunks)


class ChunkTokenizer:
    """Thread-safe: the tokenizer below is, and nothing else changes."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
        vocabulary = self._tokenizer.get_vocab()
        self.split = WordSplitter(vocabulary)
        self._foreign = np.zeros(len(vocabulary), dtype=bool)
        self._continues = np.zeros(len(vocabulary), dtype=bool)
        for piece, index in vocabulary.items():
            self._foreign[index] = index == UNKNOWN or any(map(_foreign, piece))
            self._continues[index] = piece.startswith("##")

    def tokens(self, text: str, most: int) -> Tokens:
        """The tokens of a question's ``text``, which may have ``most``; nothing is cut off."""
        return self._read(text, most, layout=False)

    def state(self, text: str, most: int) -> Tokens:
        """The tokens of a state, with their layout."""
        return self._read(text, most, layout=True)

    def _read(self, text: str, most: int, *, layout: bool) -> Tokens:
        """By slices, so that a text that is far too long costs no more than one that just is."""
        ids: list[int] = []
        layouts: list[Layout] = []
        unread = 0.0
        said = at = 0
        for part in _slices(text):
            reading = readable(part, self.split)
            encoding = self._tokenizer.encode(reading.text, add_special_tokens=False)
            ids += encoding.ids
            if len(ids) > most:
                return Tokens((), len(ids), 0.0, complete=False)
            array = np.array(encoding.ids, dtype=np.int64)
            places = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
            weight, lost = self._unread(reading, array, places)
            unread += weight
            said += len(array) - lost
            if layout:
                layouts.append(self._layout(reading, array, places, at))
            at += len(part)
        share = unread / (unread + said) if unread else 0.0
        whole = _joined(text, np.array(ids, dtype=np.int64), layouts) if layout else None
        return Tokens(_chunks(ids), len(ids), share, layout=whole)

    def _unread(
        self, reading: Readable, ids: NDArray[np.int64], places: NDArray[np.int32]
    ) -> tuple[float, int]:
        """What is not read, in tokens that it would be if it were a text, and the tokens that it
        is. A whole sentence may be one unknown token, or none."""
        lost = self._foreign[ids]
        sizes = places[:, 1] - places[:, 0]
        weight = np.maximum(1.0, sizes[lost] / CHARACTERS_A_TOKEN).sum()
        for start, end in reading.unread:
            inside = (places[:, 0] >= start) & (places[:, 1] <= end) & ~lost
            lost = lost | inside
            weight += (end - start) / OPAQUE_CHARACTERS_A_TOKEN
        weight += reading.hidden / CHARACTERS_A_TOKEN
        return float(weight), int(lost.sum())

    def _layout(
        self, reading: Readable, ids: NDArray[np.int64], places: NDArray[np.int32], at: int
    ) -> Layout:
        """Of a slice that begins at ``at``; where else its tokens occur is told by ``_joined``."""
        starts, ends = places[:, 0], places[:, 1]
        continues = self._continues[ids]
        seen = shapes(reading.text, starts, ends, continues)
        formed = forms(reading.text, starts)
        if reading.origin is not None and len(ids):
            starts, ends = reading.origin[starts], reading.origin[np.maximum(ends - 1, 0)] + 1
        nothing = np.zeros(len(ids), dtype=np.uint8)
        return Layout(starts + at, ends + at, seen, nothing, formed, continues)


def _joined(text: str, ids: NDArray[np.int64], parts: Sequence[Layout]) -> Layout:
    starts, ends, seen, _, formed, continues = (
        np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Layout)
    )
    return Layout(starts, ends, seen, occurrences(text, ids, starts), formed, continues)


def bucket_of(tokens: int) -> int:
    """The padded length of a chunk of ``tokens`` tokens."""
    return next(bucket for bucket in BUCKETS if bucket >= tokens + 2)


def bounds(count: int) -> list[int]:
    """Where the chunks of ``count`` tokens begin, and the last one's end."""
    chunks = max(1, -(-count // CHUNK))
    return [count * i // chunks for i in range(chunks + 1)]


def _chunks(ids: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(ids[a:b]) for a, b in pairwise(bounds(len(ids))))


def _foreign(character: str) -> bool:
    """Whether it is a letter of a script that the encoder was not trained to read."""
    return character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")


def _slices(text: str) -> Iterator[str]:
    """``text`` in slices that end at white space, where tokens end as well."""
    start = 0
    while len(text) - start > _SLICE:
        end = max(text.rfind(" ", start, start + _SLICE), text.rfind("\n", start, start + _SLICE))
        end = start + _SLICE if end <= start else end
        yield text[start:end]
        start = end
    yield text[start:]
