"""What of each token the encoder's uncased vocabulary does not say."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

SHAPES: Final = 11
"""0 padding and marks; then lower case, Capitalised, UPPER CASE, digits, other, and each of these
for a token that continues a word."""

OCCURRENCES: Final = 4
"""0 padding and marks; then a token that stands nowhere else, in its own line again, in another
line: names and numbers of one field that another field has or lacks."""

FORMS: Final = 26
"""0 padding, marks and plain words; then by what the token stands in: 1 to 20 a number of as many
digits, however they are grouped; then something with an @, a URL, a name with dots, a time or an
address with colons, letters and digits mixed."""

_ADDRESS, _URL, _DOTTED, _COLONS, _MIXED = range(21, 26)
_NUMBER: Final = re.compile(r"\+?\(?\d(?:[ .()/-]{0,2}\d)*")
_COMPOUND: Final = re.compile(r"[^\s\"'<>()\[\]{},;]+")

_PLAIN, _CAPITAL, _UPPER, _DIGIT, _OTHER = range(1, 6)


def shapes(
    text: str, starts: NDArray[np.int32], ends: NDArray[np.int32], continues: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Of each token at ``starts`` to ``ends``, a value below ``SHAPES``."""
    if not len(starts):
        return np.zeros(0, dtype=np.uint8)
    upper, letter, digit = _characters(text)
    last = np.maximum(ends - 1, starts)
    shape = np.full(len(starts), _OTHER, dtype=np.uint8)
    shape[letter[starts]] = _PLAIN
    shape[upper[starts]] = _CAPITAL
    shape[upper[starts] & upper[last] & (last > starts)] = _UPPER
    shape[digit[starts]] = _DIGIT
    return np.where(continues, shape + 5, shape).astype(np.uint8)


def occurrences(text: str, ids: NDArray[np.int64], starts: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Of each token, a value below ``OCCURRENCES``."""
    if not len(ids):
        return np.zeros(0, dtype=np.uint8)
    breaks = np.array([i for i, c in enumerate(text) if c == "\n"], dtype=np.int64)
    lines = np.searchsorted(breaks, starts)
    pairs = ids * (len(breaks) + 1) + lines
    per_pair, pair_of = np.unique(pairs, return_inverse=True)
    in_line = np.bincount(pair_of)[pair_of]
    known, id_of = np.unique(ids, return_inverse=True)
    ids_of_pairs = per_pair // (len(breaks) + 1)
    in_lines = np.bincount(np.searchsorted(known, ids_of_pairs), minlength=len(known))[id_of]
    result = np.ones(len(ids), dtype=np.uint8)
    result[in_line > 1] = 2
    result[in_lines > 1] = 3
    return result


def forms(text: str, starts: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Of each token, a value below ``FORMS``."""
    if not len(starts):
        return np.zeros(0, dtype=np.uint8)
    of_character = np.zeros(len(text), dtype=np.uint8)
    for match in _COMPOUND.finditer(text):
        form = _form(match.group())
        if form:
            of_character[match.start() : match.end()] = form
    for match in _NUMBER.finditer(text):
        part = of_character[match.start() : match.end()]
        digits = min(20, sum(c.isdigit() for c in match.group()))
        part[(part == 0) | (part == _COLONS) & (digits > 8)] = digits
    return of_character[starts]


def _form(compound: str) -> int:
    """0 for a plain word or number."""
    if compound.isalpha() or compound.isdigit():
        return 0
    if "@" in compound:
        return _ADDRESS
    if "://" in compound or compound.startswith("www."):
        return _URL
    inner = compound.strip(".:-")
    if ":" in inner:
        return _COLONS
    letters = any(c.isalpha() for c in inner)
    if "." in inner and letters:
        return _DOTTED
    return _MIXED if letters and any(c.isdigit() for c in inner) else 0


def _characters(
    text: str,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Upper case, letter, digit, by character."""
    points = _points(text)
    lower, upper = text.lower(), text.upper()
    if len(lower) == len(text) == len(upper):
        is_upper = points != _points(lower)
        return is_upper, is_upper | (points != _points(upper)), (points >= 48) & (points < 58)
    digits = (points >= 48) & (points < 58)
    small = _points("".join([c if len(x := c.lower()) != 1 else x for c in text]))
    large = _points("".join([c if len(x := c.upper()) != 1 else x for c in text]))
    is_upper = points != small
    return is_upper, is_upper | (points != large), digits


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
