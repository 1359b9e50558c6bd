"""Vectors of question texts, encoded once per text."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

TEXTS: Final = 16_384
"""Texts kept: 25 MB of vectors."""

QUESTIONS: Final = 1_024
"""Assembled questions kept."""


class Lru(Generic[Key, Value]):
    """A bounded map that drops what was used longest ago; safe to share between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._entries

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)
