"""Guarded texts in the middle of ordinary ones, in a chunk that both share (SRV-17).

Where a long text is cut into chunks is nobody's choice: an attack that stands in a document is
rarely a chunk of its own, and what stands around it must not hide it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

from models.embedded.train.long import GUARDS

MOST: Final = 240
"""Tokens of the whole: not quite a chunk."""

LEAST: Final = 30
"""Tokens of ordinary text around."""

JOINED: Final = 0.5
"""Share of ordinary pieces that are made of two texts."""

_NOTHING: Final[Mapping[str, Any]] = {"jailbreak": False, "harm": []}

_CHARACTERS: Final = 3.2
"""A token of ordinary text has so many, or more."""

_BETWEEN: Final = ("\n", "\n\n", " ", "\n- ", ' "', "\n> ")

Tokens = Callable[[str], int]
"""How many a text has."""


class Within:
    """Places the states of items within pieces of ``texts``; deterministic to ``rng``."""

    def __init__(self, texts: Sequence[str], tokens: Tokens, rng: Random) -> None:
        self._texts = [text for text in texts if len(text) > MOST]
        self._tokens = tokens
        self._rng = rng

    def placed(self, item: Mapping[str, Any]) -> dict[str, Any] | None:
        """The item with ordinary text around, and its labels of guards alone; ``None`` for what has
        none, is no plain text, or leaves no room."""
        state = item["state"]
        ask = {name: label for name, label in item.get("ask", {}).items() if name in GUARDS}
        if not ask or not isinstance(state, str) or not self._texts:
            return None
        room = MOST - self._tokens(state)
        if room < LEAST:
            return None
        around = self._rng.randint(LEAST, room)
        for _ in range(3):
            text = self._around(state, around)
            if self._tokens(text) <= MOST:
                return {"state": text, "ask": ask}
            around //= 2
        return None

    def plain(self) -> dict[str, Any] | None:
        """An item of ordinary text alone, which no guard matches: a piece of one text, or of one
        in the middle of another, so that where two texts meet says nothing."""
        if not self._texts:
            return None
        tokens = self._rng.randint(LEAST, MOST)
        inner = self._piece(tokens // 3).strip() if self._rng.random() < JOINED else ""
        for _ in range(3):
            text = self._around(inner, tokens) if inner else self._piece(tokens).strip()
            if self._tokens(text) <= MOST:
                return {"state": text, "ask": dict(_NOTHING)}
            tokens, inner = tokens // 2, inner[: len(inner) // 2]
        return None

    def _piece(self, tokens: int) -> str:
        characters = int(tokens * _CHARACTERS)
        text = self._rng.choice(self._texts)
        start = self._rng.randint(0, max(0, len(text) - characters))
        return text[start : start + characters]

    def _around(self, state: str, tokens: int) -> str:
        piece = self._piece(tokens)
        at = self._rng.choice((0, len(piece), self._rng.randint(0, len(piece))))
        while 0 < at < len(piece) and not piece[at].isspace():
            at += 1
        before, after = piece[:at], piece[at:]
        between = self._rng.choice(_BETWEEN)
        parts = [before, between] if before.strip() else []
        parts += [state]
        parts += [between, after] if after.strip() else []
        return "".join(parts).strip()
