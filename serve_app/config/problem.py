"""What is wrong with a configuration, or useless in it (CFG-1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

SHOWN: Final = 64
"""Most characters of a value that a problem repeats."""

SIMILAR: Final = 0.6
"""difflib ratio from which a known name is worth suggesting."""

ALIKE: Final = 0.75
"""difflib ratio from which a name is taken for a misspelling of the known one."""

_LISTED: Final = 24


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake, or one useless setting.

    ``line`` counts from 1; 0 is the file as a whole. ``path`` is written as in the file, indices
    from 0 (``recipes[0].decisions[2].name``), ``""`` for the root. ``value`` is what stands
    there, at most 64 characters of it, ``None`` where nothing does or where it may be a secret.
    ``allowed`` lists what may stand there, ``nearest`` the known name that was likely meant.
    """

    severity: Severity
    file: str
    line: int
    path: str
    message: str
    value: str | None = None
    allowed: tuple[str, ...] = ()
    nearest: str | None = None

    def __str__(self) -> str:
        """``FILE:LINE path: message (value …; allowed …; did you mean …)``, one line."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        notes = []
        if self.value is not None:
            notes.append(f"value {self.value}")
        if self.allowed:
            more = len(self.allowed) - _LISTED
            listed = ", ".join(map(shorten, self.allowed[:_LISTED]))
            notes.append(f"allowed {listed}" + (f", … {more} more" if more > 0 else ""))
        if self.nearest is not None:
            notes.append(f"did you mean {shorten(self.nearest)}")
        subject = f" {self.path}:" if self.path else ":"
        said = " ".join(self.message.splitlines())
        return f"{place}{subject} {said}" + (f" ({'; '.join(notes)})" if notes else "")


class ConfigErrors(Exception):  # noqa: N818 - it is many
    """A configuration that cannot be used: every error in it, by line. It prints as them all."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def shorten(text: str) -> str:
    """``text`` on one line, in at most 64 characters."""
    text = " ".join(text.encode(errors="replace").decode().split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def nearest(name: str, known: Iterable[str], cutoff: float = SIMILAR) -> str | None:
    """The known name that ``name`` is most likely a misspelling of, if any looks like it."""
    names = list(known)
    by_case = {known_name.casefold(): known_name for known_name in reversed(names)}
    found = get_close_matches(name, names, 1, cutoff) or [
        by_case[match] for match in get_close_matches(name.casefold(), list(by_case), 1, cutoff)
    ]
    return found[0] if found else None
