"""Words that were written without spaces between them."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log
from typing import Final

LONGEST: Final = 512
"""Letters of a run that is taken apart; a longer one is nobody's sentence."""

_LONGEST_WORD: Final = 18
_FIRST_WORD: Final = 1996  # the encoder's vocabulary lists words and endings by falling frequency
_COST_OF_A_LETTER: Final = 2.6
"""Above this many nats a letter a run is no English: a known word has about 2."""

_SHORT: Final = frozenset(
    "a am an as at be by do go he hi i if in is it me my no of ok on or so to up us we".split()  # noqa: SIM905
)


class WordSplitter:
    """The likeliest words of a run of letters, by Zipf's law on their rank."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._longest_piece = max((len(p.removeprefix("##")) for p in vocabulary), default=1)
        self._cost = {
            word: log(2 * (max(rank, _FIRST_WORD) - _FIRST_WORD + 10))
            for word, rank in vocabulary.items()
            if word.isascii() and word.isalpha() and _a_word(word, rank)
        }
        self._ending = {
            piece.removeprefix("##"): log(2 * (rank - _FIRST_WORD + 10))
            for piece, rank in vocabulary.items()
            if piece.startswith("##") and piece[2:].isascii() and len(piece) > 4
        }

    def __call__(self, letters: str) -> list[str] | None:
        """Its words, or ``None`` where they are not at least two known ones, fewer than the pieces
        that WordPiece makes of it. Linear in the letters, of which it takes ``LONGEST``."""
        if len(letters) > LONGEST:
            return None
        best = [0.0]
        cut = [(0, True)]
        for end in range(1, len(letters) + 1):
            options = [
                (best[start] + cost, start, begins)
                for start in range(max(0, end - _LONGEST_WORD), end)
                for known, begins in ((self._cost, True), (self._ending, False))
                if (begins or start) and (cost := known.get(letters[start:end])) is not None
            ]
            cost, start, begins = min(options, default=(inf, 0, True))
            best.append(cost)
            cut.append((start, begins))
        if best[-1] > _COST_OF_A_LETTER * len(letters):
            return None
        words: list[str] = []
        end = last = len(letters)
        while end:
            end, begins = cut[end]
            if begins:
                words.append(letters[end:last])
                last = end
        if len(words) < 2 or self._fewer_pieces(letters, len(words)):
            return None
        return words[::-1]

    def _fewer_pieces(self, letters: str, most: int) -> bool:
        """Whether WordPiece makes fewer than ``most`` pieces of it: then it is a word itself."""
        count = at = 0
        while at < len(letters):
            end = min(len(letters), at + self._longest_piece)
            while end > at and ("##" * (at > 0) + letters[at:end]) not in self._vocabulary:
                end -= 1
            count += 1
            if end == at or count >= most:
                return False
            at = end
        return count < most


def _a_word(word: str, rank: int) -> bool:
    return (len(word) > 2 and rank >= _FIRST_WORD) or word in _SHORT
