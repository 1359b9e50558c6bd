"""``${VAR}`` and ``${VAR:-default}`` in string values (CFG-2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

_REFERENCE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|\$\{")


class Withheld(Enum):
    """``VALUE`` stands for what a variable holds, where a document may not learn it."""

    VALUE = "withheld"


Environ: TypeAlias = Mapping[str, str | Withheld]
"""The variables that are set."""


class WithheldError(ValueError):
    """The text needs a value that is withheld."""


class VariableError(ValueError):
    """A reference that cannot be expanded; the message holds no variable's value."""


def expand(text: str, environ: Environ) -> str:
    """``text`` with its references replaced, once: what a variable holds is not read again.

    A default stands in for a variable that is unset or empty, as in a shell. ``VariableError``
    for variables that are unset without one, and for ``${`` that begins no reference;
    ``WithheldError`` where only the values are missing.
    """
    unset: list[str] = []
    withheld = False

    def value(match: re.Match[str]) -> str:
        nonlocal withheld
        name, default = match["name"], match["default"]
        if name is None:
            raise VariableError("a variable is written ${NAME} or ${NAME:-default}")
        found = environ.get(name)
        if isinstance(found, Withheld):
            withheld = True
            return ""
        if default is not None:
            return found or default
        if found is None:
            unset.append(name)
        return found or ""

    expanded = _REFERENCE.sub(value, text)
    if unset:
        names = " and ".join(dict.fromkeys(unset))
        raise VariableError(
            f"the environment does not set {names}; set it, or write ${{{unset[0]}:-default}}"
        )
    if withheld:
        raise WithheldError
    return expanded
