"""What the benchmark of questions asks: states of a length, and questions by number.

All words are one token each to MiniLM, as those of the prompts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

import orjson

from benchmarks.harness.prompts import ADJECTIVES, LINKS, NOUNS, WORDS, Prompts
from models.questions.types import JsonValue

MOST_QUESTIONS: Final = 50
"""In one call, and so in one generation of questions."""

_TEXTS: Final = 6
"""Texts of one question at most: the options of the largest choice."""

_PLACES: Final = (ADJECTIVES, NOUNS, LINKS, ADJECTIVES, NOUNS)
_SPACE: Final = len(ADJECTIVES) ** 2 * len(NOUNS) ** 2 * len(LINKS)
_STRIDE: Final = 324_871  # prime to the space, so n -> n * stride is a permutation of it


@dataclass(frozen=True, slots=True)
class Call:
    """One state and some questions, each by its number; ``tokens`` of the state."""

    state: int
    tokens: int
    questions: tuple[int, ...]


class Calls:
    """The contents of calls, as ``seed`` draws them."""

    def __init__(self, seed: int) -> None:
        self._prompts = Prompts(seed)
        self._offset = Random(seed).randrange(_SPACE)

    def state(self, call: Call) -> str:
        """A text of ``call.tokens`` tokens, another for every number of a state."""
        prompts = -(-call.tokens // WORDS)
        first = call.state * prompts
        words = " ".join(self._prompts[first + i] for i in range(prompts)).split()
        return " ".join(words[: call.tokens])

    def questions(self, call: Call) -> dict[str, JsonValue]:
        """As a System One body has them."""
        return {f"q{place}": self.question(n) for place, n in enumerate(call.questions)}

    def body(self, call: Call) -> bytes:
        return orjson.dumps(
            {"model": "jev-latest", "state": self.state(call), "questions": self.questions(call)}
        )

    def question(self, number: int) -> JsonValue:
        """A noul, a choice of three to six options or a score of three to five levels, in turn.

        Numbers that are equal modulo ``MOST_QUESTIONS`` have the same type and number of
        options, and no text in common; no text of a question is one of another.
        """
        place = number % MOST_QUESTIONS
        texts = (self._text(number * _TEXTS + i) for i in range(_TEXTS))
        kind, turn = place % 3, place // 3
        if kind == 0:
            return {"type": "noul", "instructions": f"Is this about {next(texts)}?"}
        if kind == 1:
            options = {f"option_{i}": text for i, text in enumerate(islice(texts, 3 + turn % 4))}
            return {"type": "choice", "instructions": "Which of these is it?", "criteria": options}
        levels = list(islice(texts, 3 + turn % 3))
        return {"type": "score", "instructions": "How far does it go?", "criteria": levels}

    def _text(self, number: int) -> str:
        """A noun phrase. ``IndexError`` where all are used."""
        if not 0 <= number < _SPACE:
            raise IndexError("no more question texts: fewer rounds, please")
        return " ".join(self._words((number * _STRIDE + self._offset) % _SPACE))

    def _words(self, rest: int) -> Iterator[str]:
        yield "the"
        for words in _PLACES:
            rest, place = divmod(rest, len(words))
            yield words[place]
