"""``${VAR}`` and ``${VAR:-default}`` in string values (CFG-2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|\$\{")


class VariableError(ValueError):
    """A reference that cannot be expanded; the message holds no variable's value."""


def expand(text: str, environ: Mapping[str, str]) -> str:
    """``text`` with its references replaced, once: what a variable holds is not read again.

    A default stands in for a variable that is unset or empty, as in a shell. ``VariableError``
    for variables that are unset without one, and for ``${`` that begins no reference.
    """
    unset: list[str] = []

    def value(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        if name is None:
            raise VariableError("a variable is written ${NAME} or ${NAME:-default}")
        found = environ.get(name)
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
    return expanded
