"""Server-sent events taken apart, by the rules of the HTML standard (section 9.2.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
"""Held back of one event that does not end."""

_LINE: Final = re.compile(rb"\r\n|\r(?!\n)|\n")


class FrameTooLongError(ValueError):
    """An event is longer than ``MAX_FRAME_BYTES``."""


@dataclass(frozen=True, slots=True)
class Frame:
    """``event``: its name, ``None`` where it has none; ``data``: its data lines, joined."""

    event: str | None
    data: str


class Frames:
    """Takes bytes as they come and gives the events that are complete."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._searched = 0
        self._event: str | None = None
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        """``FrameTooLongError`` where an event does not end."""
        self._held += chunk
        frames = []
        start = 0
        for match in _LINE.finditer(self._held, max(0, self._searched - 1)):
            if match.group() == b"\r" and match.end() == len(self._held):
                break  # the other half of a line's end may be still to come
            frame = self._line(bytes(self._held[start : match.start()]))
            start = match.end()
            if frame is not None:
                frames.append(frame)
        del self._held[:start]
        self._searched = len(self._held)
        if len(self._held) + self._size > MAX_FRAME_BYTES:
            raise FrameTooLongError
        return frames

    def _line(self, line: bytes) -> Frame | None:
        if not line:
            event, data = self._event, self._data
            self._event, self._data, self._size = None, [], 0
            return Frame(event, "\n".join(data)) if data else None
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._size += len(value)
        elif name == "event":
            self._event = value or None
        return None


def frame(data: bytes, event: str | None = None) -> bytes:
    """An event of one line of data."""
    head = b"" if event is None else b"event: " + event.encode() + b"\n"
    return head + b"data: " + data + b"\n\n"
