"""The last answers, by content (CACHE-1)."""

from __future__ import annotations

from array import array
from sys import getsizeof
from typing import Final, NamedTuple, TypeAlias

from models.lru import Lru
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    ErrorAnswer,
    Question,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)

MEAN_BYTES: Final = 8_192
"""Of the answers of a full cache: 32 MB of 4,096. A choice of 255 options takes a third of it."""

LARGEST_BYTES: Final = 65_536
"""Of one answer. Only the spans of a text full of them are larger, and are computed again."""

_OptionsAnswer: TypeAlias = ChoiceAnswer | ScoreAnswer | SetAnswer


class CachedAnswer(NamedTuple):
    """``tokens``: of the state, so that usage is the same from the cache."""

    answer: Answer
    tokens: int


class ResultCache:
    """The ``size`` most recently used answers of together ``size * MEAN_BYTES``; 0 keeps none.

    The names in an answer are its question's, which is there whenever the answer is asked for:
    they are given back from it and not kept, however long they are.
    """

    def __init__(self, size: int) -> None:
        if size < 0:
            raise ValueError(f"a result cache of {size} answers")
        self._kept: Lru[bytes, _Kept] = Lru(size, size * MEAN_BYTES, LARGEST_BYTES)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def memory(self) -> int:
        """Bytes that it takes, roughly."""
        return self._kept.memory

    def get(self, key: bytes, question: Question) -> CachedAnswer | None:
        """The answer to ``question``, which is the one that ``key`` names."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if isinstance(kept.answer, _Unnamed):
            return CachedAnswer(kept.answer.named(question), kept.tokens)
        return CachedAnswer(kept.answer, kept.tokens)

    def put(self, key: bytes, question: Question, answer: Answer, tokens: int) -> None:
        """Keeps an answer. An error is no answer and is never kept (CACHE-3)."""
        if isinstance(answer, ErrorAnswer):
            return
        kept = _Unnamed.of(question, answer) or answer
        self._kept.put(key, _Kept(kept, tokens), getsizeof(key) + _bytes(kept))


class _Unnamed(NamedTuple):
    """An answer without the names of its options, and its probabilities as numbers side by side."""

    type: type[_OptionsAnswer]
    probabilities: array[float]

    @classmethod
    def of(cls, question: Question, answer: Answer) -> _Unnamed | None:
        """``None`` where the answer has no names, or others than its question."""
        if not isinstance(answer, (ChoiceAnswer, ScoreAnswer, SetAnswer)):
            return None
        unnamed = cls(type(answer), array("d", answer.probabilities))
        return unnamed if unnamed.named(question) == answer else None

    def named(self, question: Question) -> _OptionsAnswer:
        if self.type is ScoreAnswer:
            names = tuple([option.text or option.key for option in question.options])
        else:
            names = tuple([option.key for option in question.options])
        return self.type(names, tuple(self.probabilities))


class _Kept(NamedTuple):
    answer: Answer | _Unnamed
    tokens: int


def _bytes(kept: Answer | _Unnamed) -> int:
    match kept:
        case _Unnamed(_, probabilities):
            return 256 + getsizeof(probabilities)
        case SpanAnswer(spans):
            return 256 + sum(512 + getsizeof(span.label) + getsizeof(span.text) for span in spans)
        case ChoiceAnswer(names, _) | ScoreAnswer(names, _) | SetAnswer(names, _):
            return 256 + sum(48 + getsizeof(name) for name in names)
        case _:
            return 256
