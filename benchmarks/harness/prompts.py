"""Prompts that never repeat, so that nothing is answered from a cache."""

from __future__ import annotations

from random import Random
from typing import Final

WORDS: Final = 30
"""Words of a prompt. Each is one WordPiece of the uncased BERT vocabulary that MiniLM reads, so
a prompt is 30 tokens too, without the two that the tokenizer adds at its ends."""

_PHRASES: Final = 64
_SLOTS: Final = 5
_SPACE: Final = _PHRASES**_SLOTS
_STRIDE: Final = 648_055_381  # odd, so n -> n * stride is a permutation of the space; far apart


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


VERBS: Final = _words("explain compare describe defend translate review write prove list draft")
ADJECTIVES: Final = _words(
    "short early modern simple hard common recent local private general deep formal"
)
NOUNS: Final = _words(
    "theory market contract engine protein river letter budget network poem theorem recipe "
    "policy patient battle planet database court novel machine school language garden union"
)
LINKS: Final = _words("with for about from without under after against before between")


class Prompts:
    """The prompt of each number from 0 to 2**30 - 1, all different.

    A prompt is five phrases of six words, each from a list that ``seed`` drew.
    """

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self._lists = [_phrases(rng) for _ in range(_SLOTS)]

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < _SPACE:
            raise IndexError(f"no prompt {number}: there are {_SPACE}")
        rest = number * _STRIDE % _SPACE
        words = []
        for phrases in self._lists:
            rest, place = divmod(rest, _PHRASES)
            words.append(phrases[place])
        return " ".join(words)


def _phrases(rng: Random) -> list[str]:
    phrases: dict[str, None] = {}
    while len(phrases) < _PHRASES:
        words = (
            rng.choice(VERBS),
            "the",
            rng.choice(ADJECTIVES),
            rng.choice(NOUNS),
            rng.choice(LINKS),
            rng.choice(NOUNS),
        )
        phrases[" ".join(words)] = None
    return list(phrases)
