"""A map that remembers what was used of late, bounded in entries and in bytes.

What is remembered of requests are strangers' texts, and one of them may be as long as a body may
be: a bound on entries alone bounds no memory.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

ENTRY_BYTES: Final = 256
"""What the map itself takes for an entry, roughly."""


class Lru(Generic[Key, Value]):
    """At most ``entries`` of together ``most_bytes``; what was used longest ago goes first. An
    entry of more than ``largest_bytes`` is not kept, so that it does not push out all others.
    Safe to share between threads.
    """

    def __init__(self, entries: int, most_bytes: int, largest_bytes: int) -> None:
        self._most_entries = entries
        self._most_bytes = most_bytes
        self._largest_bytes = min(largest_bytes, most_bytes)
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    @property
    def memory(self) -> int:
        """Bytes of all entries, as ``put`` was told, and of the map."""
        return self._bytes

    def get(self, key: Key) -> Value | None:
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """``size``: bytes that the key and the value take."""
        size += ENTRY_BYTES
        with self._lock:
            replaced = self._entries.pop(key, None)
            if replaced is not None:
                self._bytes -= replaced[1]
            if size > self._largest_bytes:
                return
            self._entries[key] = value, size
            self._bytes += size
            while len(self._entries) > self._most_entries or self._bytes > self._most_bytes:
                self._bytes -= self._entries.popitem(last=False)[1][1]

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._entries

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)
