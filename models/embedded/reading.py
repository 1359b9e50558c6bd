"""A text as the model can read it, each character with its place in the original (SRV-17).

WordPiece makes one unknown token of a long word and nonsense of words run together; base64 and
characters that nobody sees hide a text altogether. So what is an encoded text is read as that
text, long words are taken apart, and what stays opaque is named as unread.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

OPAQUE: Final = 64
"""Characters above which an encoded run that is no text counts as unread."""

UNSPLIT: Final = 40
"""Letters from which a word that is not several known ones counts as unread: the longest words of
languages that build them are shorter."""

HIDDEN: Final = 4
"""Characters in a row that nobody sees, from which they hide something. One or two join emoji."""

DEPTH: Final = 3
"""How often a text is decoded that was encoded several times."""

_LONGEST: Final = 34  # letters; WordPiece knows no longer word, and above 100 it reads none
_PIECE: Final = 32
_BASE64: Final = re.compile(
    r"[A-Za-z0-9+/_-]{16,}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/_-]{16,})*"
    r"(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/_-]{1,15}(?![\w+/-]))?={0,2}"
)
_LONG_WORD: Final = re.compile(r"[^\s!-/:-@\[-`{-~]{20,}")
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_BLANKS: Final = re.compile(r"\s{64,}")
_CASES: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

Split = Callable[[str], list[str] | None]
"""Words of a run of lower-case letters, or ``None`` where it is not several known ones."""


@dataclass(frozen=True)
class Readable:
    """``text`` is what is read; ``origin`` the index in the original of each of its characters
    and of its end, ``None`` where they are the same; ``unread``: ranges of ``text`` that say
    nothing to a reader; ``hidden``: characters that were left out, and that a reader of another
    kind may see."""

    text: str
    origin: NDArray[np.int32] | None = None
    unread: tuple[tuple[int, int], ...] = ()
    hidden: int = 0


def readable(text: str, split: Split, depth: int = DEPTH) -> Readable:
    """``text`` with lone surrogates replaced, unseen characters left out, encoded texts decoded and
    long words taken apart. Linear in its length, but for the sorting of what is changed."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    unseen = list(_unseen(text))
    seen = _applied(text, unseen)
    encoded = list(_encoded(seen.text, split, depth))
    words = _apart_from(encoded, _long_words(seen.text, split))
    read = _applied(seen.text, sorted([*encoded, *words], key=lambda edit: edit.start))
    origin = read.origin
    if seen.origin is not None:
        origin = seen.origin if origin is None else seen.origin[origin]
    return Readable(read.text, origin, read.unread, sum(edit.hidden for edit in unseen))


def _applied(text: str, edits: Sequence[_Edit]) -> Readable:
    if not edits:
        return Readable(text)
    parts: list[str] = []
    origins: list[NDArray[np.int32]] = []
    unread: list[tuple[int, int]] = []
    at = length = 0
    for edit in edits:
        parts += [text[at : edit.start], edit.text]
        origins += [np.arange(at, edit.start, dtype=np.int32), _spread(edit)]
        length += edit.start - at
        if edit.unread:
            unread.append((length, length + len(edit.text)))
        length += len(edit.text)
        at = edit.end
    parts.append(text[at:])
    origins.append(np.arange(at, len(text) + 1, dtype=np.int32))
    return Readable("".join(parts), np.concatenate(origins), tuple(unread))


def _apart_from(others: Sequence[_Edit], edits: Iterable[_Edit]) -> Iterator[_Edit]:
    """Those of ``edits`` that touch none of ``others``; both are in order."""
    at = 0
    for edit in edits:
        while at < len(others) and others[at].end <= edit.start:
            at += 1
        if at == len(others) or edit.end <= others[at].start:
            yield edit


@dataclass(frozen=True)
class _Edit:
    """``text`` in the place of ``start`` to ``end``. ``apart``: it is the original with blanks."""

    start: int
    end: int
    text: str
    unread: bool = False
    apart: bool = False
    hidden: int = 0


def _spread(edit: _Edit) -> NDArray[np.int32]:
    count = len(edit.text)
    if edit.apart:
        blank = np.frombuffer(edit.text.encode("utf-32-le"), dtype=np.uint32) == 32
        letters: NDArray[np.int32] = (edit.start + np.cumsum(~blank) - ~blank).astype(np.int32)
        return letters
    size = edit.end - edit.start
    even: NDArray[np.int32] = (edit.start + np.arange(count) * size // max(count, 1)).astype(
        np.int32
    )
    return even


def _encoded(text: str, split: Split, depth: int) -> Iterator[_Edit]:
    for match in _BASE64.finditer(text):
        start, end = match.span()
        decoded = _decoded(match.group()) if depth else None
        if decoded is not None:
            inner = readable(decoded, split, depth - 1)
            yield _Edit(start, end, f" {inner.text} ", unread=bool(inner.unread))
        elif end - start > OPAQUE and _looks_encoded(match.group()):
            yield _Edit(start, end, _pieces(match.group()), unread=True, apart=True)


def _unseen(text: str) -> Iterator[_Edit]:
    """Controls become blanks, and invisible characters nothing, but for the letters that tag
    characters stand for; of many blanks one is left."""
    if text.isascii() and text.isprintable():
        for match in _BLANKS.finditer(text):
            yield _Edit(*match.span(), " ")
        return
    for match in re.finditer(f"{_UNSEEN.pattern}|{_BLANKS.pattern}", text):
        start, end = match.span()
        run = match.group()
        tags = "".join(chr(ord(c) & 0x7F) for c in run if 0xE0020 <= ord(c) <= 0xE007E)
        if run.isspace():
            yield _Edit(start, end, "\n" if "\n" in run else " ")
            continue
        controls = any(unicodedata.category(c) == "Cc" for c in run)
        if tags and end - start >= HIDDEN:
            yield _Edit(start, end, f" {tags} ", hidden=end - start)
        else:
            hidden = end - start if end - start >= HIDDEN and not controls else 0
            yield _Edit(start, end, " " if controls else "", hidden=hidden)


def _long_words(text: str, split: Split) -> Iterator[_Edit]:
    for match in _LONG_WORD.finditer(text):
        start, end = match.span()
        word = match.group()
        if not word.isalpha():
            if len(word) >= _LONGEST:
                yield _Edit(start, end, _pieces(word), apart=True)
            continue
        parts = [_parted(part, split) for part in _CASES.split(word)]
        apart = " ".join(part for part, _ in parts)
        if apart != word:
            yield _Edit(start, end, apart, unread=any(u for _, u in parts), apart=True)


def _parted(part: str, split: Split) -> tuple[str, bool]:
    """A part of a word with blanks in it, and whether it stays unread."""
    if (words := split(part.lower()) if len(part) >= 16 else None) is not None:
        return _like(part, words), False
    if len(unicodedata.normalize("NFD", part)) < _LONGEST:
        return part, False
    return _pieces(part), len(part) >= UNSPLIT


def _decoded(run: str) -> str | None:
    """The text that ``run`` encodes, if it is one, whatever stands before it in the run."""
    data = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if (text := _from_hex(data)) is not None:
        return text
    for skipped in range(4):
        part = data[skipped:]
        part = part[: len(part) - (len(part) % 4 == 1)]
        try:
            text = base64.b64decode(part + "=" * (-len(part) % 4), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if _is_text(text):
            return text
    return None


def _from_hex(data: str) -> str | None:
    if len(data) < 32 or len(data) % 2 or re.fullmatch(r"[0-9A-Fa-f]+", data) is None:
        return None
    try:
        text = bytes.fromhex(data).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if _is_text(text) else None


def _is_text(text: str) -> bool:
    """Printable, and mostly letters: random bytes are not, however short."""
    if len(text) < 10 or not all(c.isprintable() or c in "\n\r\t" for c in text):
        return False
    return sum(c.isalpha() or c.isspace() for c in text) >= 0.6 * len(text)


def _looks_encoded(run: str) -> bool:
    """Whether it has the mixture of digits and cases that no path, name or ruler has."""
    letters: list[str] = re.findall(r"[A-Za-z]+", run)
    if 10 * sum(map(len, letters)) < 3 * len(run):
        return False
    digits = sum(c.isdigit() for c in run)
    changes = sum(a.islower() != b.islower() for w in letters for a, b in pairwise(w))
    return digits + changes > 0.25 * len(run)


def _pieces(word: str) -> str:
    return " ".join(word[i : i + _PIECE] for i in range(0, len(word), _PIECE))


def _like(word: str, words: list[str]) -> str:
    """``words`` with the letters of ``word`` as they were written."""
    parts = []
    at = 0
    for part in words:
        parts.append(word[at : at + len(part)])
        at += len(part)
    return " ".join(parts)
