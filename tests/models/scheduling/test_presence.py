"""Who left, read in another's memory. BUD-4"""

from __future__ import annotations

import subprocess
import sys

from models.scheduling.presence import PLACES, Board, Place, Readers


def test_a_reader_knows_who_left_and_nobody_else() -> None:
    board, readers = Board(), Readers()
    first, second = board.place(), board.place()
    assert not readers.left(first)
    board.leave(first)
    assert readers.left(first)
    assert not readers.left(second)


def test_a_call_whose_place_is_taken_again_has_not_left() -> None:
    """The message tells of it."""
    board, readers = Board(), Readers()
    first = board.place()
    later = first._replace(number=first.number + PLACES)
    board.leave(later)
    assert readers.left(later)
    assert not readers.left(first)


def test_memory_that_is_another_process_is_not_read() -> None:
    board, readers = Board(), Readers()
    place = board.place()
    board.leave(place)
    assert not readers.left(place._replace(key=b"another process "))
    assert not readers.left(Place(0, 0, b"nobody's process", 1))


def test_another_process_is_read() -> None:
    code = (
        "from models.scheduling.presence import Board\n"
        "board = Board(); place = board.place(); board.leave(place)\n"
        "print(place.pid, place.fd, place.key.hex(), flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    pid, fd, key = process.stdout.readline().split()
    place = Place(int(pid), int(fd), bytes.fromhex(key), 1)
    readers = Readers()
    try:
        assert readers.left(place)
        assert not readers.left(place._replace(number=2))
    finally:
        process.communicate("\n", timeout=30)
