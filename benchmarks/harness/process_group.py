"""A process and all that it starts: measured, paused and ended by their own ids."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from benchmarks.harness.proc import Process, Reading, processes

_MARK: Final = "BENCHMARK_PROCESS_GROUP"


class ProcessGroup:
    """A command, and every process it started, also those that left its process tree.

    The environment of the first process carries a mark that its descendants inherit; a
    process that overwrote its environment is still found through its parent.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        piped: bool = False,
    ) -> None:
        """``piped``: its standard input and output are pipes; else its output is logged."""
        self.log = log
        self._mark = uuid.uuid4().hex
        self._seen: set[tuple[int, int]] = set()
        with log.open("wb") as output:
            self.first = subprocess.Popen(
                command,
                env={**environment, _MARK: self._mark},
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else output,
                stderr=output,
                preexec_fn=_interruptible,
            )

    def processes(self) -> list[Process]:
        """Those that live now."""
        everything = list(processes())
        mark = f"{_MARK}={self._mark}".encode()
        mine = {p.pid for p in everything if p.identity in self._seen or _carries(p.pid, mark)}
        if self.first.returncode is None:
            mine.add(self.first.pid)
        while more := {p.pid for p in everything if p.parent in mine} - mine:
            mine |= more
        found = [p for p in everything if p.pid in mine]
        self._seen |= {p.identity for p in found}
        return found

    def reading(self) -> Reading:
        return Reading.of(self.processes())

    def pause(self) -> None:
        """Stops all its processes where they are, so that others have the machine alone."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self, limit_s: float = 30) -> list[str]:
        """Ends it: an interrupt, then a termination of what is left, then a kill.

        Returns the commands of the processes that outlived the interrupt.
        """
        self.resume()
        if self.first.poll() is None:
            self.first.send_signal(signal.SIGINT)
        left = self._left_after(limit_s)
        stubborn = sorted(process.command for process in left)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if left:
                self._signal(number)
                left = self._left_after(5)
        return stubborn

    def _signal(self, number: signal.Signals) -> None:
        for process in self.processes():
            try:
                os.kill(process.pid, number)
            except ProcessLookupError:
                continue

    def _left_after(self, limit_s: float) -> list[Process]:
        end = monotonic() + limit_s
        while True:
            self.first.poll()  # reaps it
            left = self.processes()
            if not left or monotonic() > end:
                return left
            sleep(0.1)


def unwind_when_terminated() -> None:
    """Makes a termination of this process unwind it, so that it ends what it started."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def _interruptible() -> None:
    """A shell makes what it runs in the background ignore interrupts, and that is inherited."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
