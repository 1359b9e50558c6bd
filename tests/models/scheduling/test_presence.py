"""Who left, read in another's memory. BUD-4"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from models.scheduling.presence import PLACES, Board, Place, Readers

KEY = b"sixteen bytes ok"
SIZE = len(KEY) + 8 * PLACES


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


def not_a_board(kind: str, folder: Path) -> int:
    """A descriptor of something else, with a board's key at its head where it can have one."""
    if kind == "pipe without a writer":
        os.mkfifo(folder / "pipe")
        return os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    if kind == "folder":
        return os.open(folder, os.O_RDONLY)
    if kind == "device":
        return os.open("/dev/zero", os.O_RDWR)
    if kind == "socket":
        return socket.socket(socket.AF_UNIX).detach()
    if kind == "memory that may shrink":
        fd = os.memfd_create("calls", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:
        fd = os.open(folder / "file", os.O_RDWR | os.O_CREAT)
    size = 8 if kind == "short file" else SIZE
    os.write(fd, KEY[:size])
    os.ftruncate(fd, size)
    return fd


@pytest.mark.parametrize(
    "kind",
    [
        "pipe without a writer",
        "folder",
        "device",
        "socket",
        "short file",
        "file",
        "memory that may shrink",
    ],
)
def test_whatever_has_the_number_of_a_board_is_neither_waited_for_nor_read(
    kind: str, tmp_path: Path
) -> None:
    """SRV-5: another PID namespace has the same numbers; the loop of a replica reads here"""
    fd = not_a_board(kind, tmp_path)
    open_before = set(os.listdir("/proc/self/fd"))
    found: list[bool] = []
    reading = threading.Thread(
        target=lambda: found.append(Readers().left(Place(os.getpid(), fd, KEY, 0))), daemon=True
    )
    try:
        reading.start()
        reading.join(30)
        assert found == [False]
        assert set(os.listdir("/proc/self/fd")) == open_before
    finally:
        os.close(fd)


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
