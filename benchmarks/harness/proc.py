"""CPU time of processes, from ``/proc``."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """``started`` (ticks since boot) and ``pid`` name a process for ever.

    ``cpu_s`` is the user and system time of all its threads so far.
    """

    pid: int
    started: int
    parent: int
    command: str
    cpu_s: float

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.started


def processes() -> Iterator[Process]:
    """Every process that can be read, those that ended and wait to be reaped left out."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
            line = (entry / "cmdline").read_bytes()
        except OSError:  # ended in between
            continue
        fields = stat.rpartition(")")[2].split()
        if fields[0] != "Z":
            yield Process(
                pid=int(entry.name),
                started=int(fields[19]),
                parent=int(fields[1]),
                command=short_command(line, stat[stat.index("(") + 1 : stat.rindex(")")]),
                cpu_s=(int(fields[11]) + int(fields[12])) * _TICK_S,
            )


def short_command(line: bytes, name: str) -> str:
    """What a process is called in a table: its title, module or script, without arguments.

    ``line``: its arguments, each ended by a zero byte; ``name``: the kernel's name for it.
    """
    words = [word for word in line.decode(errors="replace").split("\0") if word]
    if not words:
        return name
    if words[0].startswith("ray::"):
        return words[0].split("#")[0].strip()
    program = Path(words[0]).name
    if not program.startswith("python"):
        return program
    for place, word in enumerate(words[1:], 1):
        if word == "-m":
            return "".join(words[place + 1 : place + 2])
        if word == "-c":
            return name
        if not word.startswith("-"):
            return Path(word).name
    return program


@dataclass(frozen=True, slots=True)
class Reading:
    """CPU that some processes had used at a moment."""

    by_identity: Mapping[tuple[int, int], Process]

    @classmethod
    def of(cls, some: Iterable[Process]) -> Reading:
        return cls({process.identity: process for process in some})

    def since(self, before: Reading) -> dict[str, float]:
        """CPU seconds by command between two readings; commands that used none are left out."""
        used: dict[str, float] = defaultdict(float)
        for identity, process in self.by_identity.items():
            earlier = before.by_identity.get(identity)
            used[process.command] += process.cpu_s - (earlier.cpu_s if earlier else 0.0)
        return {command: seconds for command, seconds in used.items() if seconds > 0}


def machine_busy_s() -> float:
    """CPU seconds that all processors together have worked since boot."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _iowait, irq, softirq = map(int, stat.readline().split()[1:8])
    return (user + nice + system + irq + softirq) * _TICK_S
