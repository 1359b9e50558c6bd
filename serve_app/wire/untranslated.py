"""``x-vsr-untranslated``: what of a request its provider's format could not say (API-1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from http_sf import DisplayString, Token, ser

HEADER: Final = "x-vsr-untranslated"
MAX_BYTES: Final = 1024

_TRUNCATED: Final = "truncated"


def untranslated_headers(names: Iterable[str]) -> Mapping[str, str]:
    """An RFC 9651 list of strings, in the order in which they were lost, each once. What does not
    fit into 1 KB is left out whole, and the token ``truncated`` says so. No header without names.
    """
    room = MAX_BYTES - len(_TRUNCATED) - 2
    written: list[str] = []
    for name in dict.fromkeys(names):
        item = ser(name if name.isascii() and name.isprintable() else DisplayString(name))
        if len(item) > room:
            written.append(ser(Token(_TRUNCATED)))
            break
        room -= len(item) + 2
        written.append(item)
    return {HEADER: ", ".join(written)} if written else {}
