"""A text that is cut by bytes and told about in code points."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Final

_CONTINUES: Final = 0b1000_0000
_MASK: Final = 0b1100_0000


class Text:
    """``size`` bytes of UTF-8. Lone surrogates, which JSON can carry, count three bytes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._data = text.encode("utf-8", "surrogatepass")
        self._known = [(0, 0)]
        """Bytes and the code points before them, in order."""

    @property
    def size(self) -> int:
        return len(self._data)

    def down(self, at: int) -> int:
        """The last boundary of a character that is not behind byte ``at``."""
        if at >= len(self._data):
            return len(self._data)
        while at > 0 and self._data[at] & _MASK == _CONTINUES:
            at -= 1
        return at

    def up(self, at: int) -> int:
        """The first boundary of a character that is not before byte ``at``."""
        while at < len(self._data) and self._data[at] & _MASK == _CONTINUES:
            at += 1
        return at

    def between(self, start: int, end: int) -> str:
        """The characters from byte ``start`` to byte ``end``, both at boundaries."""
        return self._data[start:end].decode("utf-8", "surrogatepass")

    def code_points(self, at: int) -> int:
        """How many characters stand before byte ``at``, a boundary."""
        byte, count = self._known[bisect_right(self._known, (at, len(self._data))) - 1]
        if byte != at:
            count += len(self.between(byte, at))
            insort(self._known, (at, count))
        return count


def size_of(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
