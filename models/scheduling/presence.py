"""Who has left, told in memory that the processes of a machine share (BUD-4, SRV-9).

A cancelled call is taken back by a message, which takes its turn behind all that is under way to
the replica: of 200 calls at once the last is there after 200 to 400 ms, and so is its
cancellation. Here a caller says that it left by one write, and the replica looks before it forms
a forward. Between machines, or where the memory cannot be opened, the message alone tells.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
from collections import OrderedDict
from itertools import count
from typing import Final, NamedTuple

PLACES: Final = 65_536
"""Calls of one process that can be told apart at a time; of older ones the message tells."""

BOARDS: Final = 256
"""Boards of other processes that a reader keeps open."""

_KEY_BYTES: Final = 16
_HEAD: Final = _KEY_BYTES // 8
_BYTES: Final = _KEY_BYTES + 8 * PLACES


class Place(NamedTuple):
    """A call on its process's board. ``key``: random bytes at the head of the board, for ``pid``
    and ``fd`` may mean something else where they are read."""

    pid: int
    fd: int
    key: bytes
    number: int


class Board:
    """The calls of this process. It goes with the process: it has no name in a file system."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._key = os.urandom(_KEY_BYTES)
        self._fd = os.memfd_create("calls", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._fd, _BYTES)
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        memory = mmap.mmap(self._fd, _BYTES)
        memory[:_KEY_BYTES] = self._key
        self._left = memoryview(memory).cast("Q")
        self._numbers = count(1)

    def place(self) -> Place:
        """The place of a new call."""
        return Place(self._pid, self._fd, self._key, next(self._numbers))

    def leave(self, place: Place) -> None:
        """Whoever reads it knows from now on that the caller of ``place`` has left."""
        self._left[_HEAD + place.number % PLACES] = place.number


class Readers:
    """The boards of callers, opened when first read."""

    def __init__(self) -> None:
        self._boards: OrderedDict[bytes, memoryview | None] = OrderedDict()

    def left(self, place: Place) -> bool:
        """Whether its caller is known to have left."""
        if place.key not in self._boards:
            self._boards[place.key] = _opened(place)
            if len(self._boards) > BOARDS:
                self._boards.popitem(last=False)
        board = self._boards[place.key]
        return board is not None and board[_HEAD + place.number % PLACES] == place.number


def _opened(place: Place) -> memoryview | None:
    """The board, or ``None`` where there is another thing under its numbers, or nothing."""
    try:
        memory = _mapped(f"/proc/{place.pid}/fd/{place.fd}")
    except (OSError, ValueError):
        return None
    if memory is None or memory[:_KEY_BYTES] != place.key:
        return None
    return memoryview(memory).cast("Q")


def _mapped(path: str) -> mmap.mmap | None:
    """Maps what has a board's kind and size, and touches nothing else: opening a pipe waits for
    its other end, opening a device may do anything, and memory that shrinks kills its reader."""
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)  # only names the file
    try:
        about = os.fstat(found)
        if not stat.S_ISREG(about.st_mode) or about.st_size != _BYTES:
            return None
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        fd = os.open(f"/proc/self/fd/{found}", flags)
    finally:
        os.close(found)
    try:
        # Fails for a file that is no memory.
        sealed = fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK
        return mmap.mmap(fd, _BYTES, prot=mmap.PROT_READ) if sealed else None
    finally:
        os.close(fd)
