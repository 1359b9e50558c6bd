"""The last answers, by content (CACHE-1)."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from models.questions.types import Answer, ErrorAnswer


class CachedAnswer(NamedTuple):
    """``tokens``: of the state, so that usage is the same from the cache."""

    answer: Answer
    tokens: int


class ResultCache:
    """The ``size`` most recently used answers; 0 keeps none."""

    def __init__(self, size: int) -> None:
        if size < 0:
            raise ValueError(f"a result cache of {size} answers")
        self._size = size
        self._answers: OrderedDict[bytes, CachedAnswer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: bytes) -> CachedAnswer | None:
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, key: bytes, answer: Answer, tokens: int) -> None:
        """Keeps an answer. An error is no answer and is never kept (CACHE-3)."""
        if not self._size or isinstance(answer, ErrorAnswer):
            return
        self._answers[key] = CachedAnswer(answer, tokens)
        if len(self._answers) > self._size:
            self._answers.popitem(last=False)
