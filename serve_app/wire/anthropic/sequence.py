"""Parts of an answer put one after the other, as the blocks of Messages are (API-3).

A later part ends a text or a thinking that is open: it waits for nothing, and what still comes of
the earlier goes on as a block of its own. A call cannot be continued so: while its arguments are
incomplete, what comes of other parts is held back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

import orjson

from serve_app.errors import WireFormat
from serve_app.wire.anthropic.arguments import ObjectScanner, to_input
from serve_app.wire.neutral.events import (
    CallBegan,
    CallDelta,
    Delta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)


class Kind(StrEnum):
    """Types of blocks."""

    TEXT = "text"
    THINKING = "thinking"
    REDACTED = "redacted_thinking"
    CALL = "tool_use"


@dataclass(frozen=True, slots=True)
class BlockBegan:
    """``call``: of a call. ``hidden``, ``origin``: of thinking that is encrypted, which has no
    deltas."""

    index: int
    kind: Kind
    call: CallBegan | None = None
    hidden: str | None = None
    origin: WireFormat | None = None


@dataclass(frozen=True, slots=True)
class BlockDelta:
    index: int
    delta: Delta


@dataclass(frozen=True, slots=True)
class BlockEnded:
    index: int


Step: TypeAlias = BlockBegan | BlockDelta | BlockEnded


class Sequence:
    """Takes deltas as they come and gives the blocks' steps in the order of the format."""

    def __init__(self) -> None:
        self._index = -1
        self._open: _Open | None = None
        self._held: dict[int, list[Delta]] = {}

    def feed(self, delta: Delta) -> list[Step]:
        if self._waits_for(delta.part):
            self._held.setdefault(delta.part, []).append(delta)
            return []
        steps = self._play(delta)
        while self._held and not self._waits_for(part := next(iter(self._held))):
            for held in self._held.pop(part):
                steps += self._play(held)
        return steps

    def end(self) -> list[Step]:
        """No delta comes any more."""
        steps = self._close()
        while self._held:
            for held in self._held.pop(next(iter(self._held))):
                steps += self._play(held)
            steps += self._close()
        return steps

    def _waits_for(self, part: int) -> bool:
        return self._open is not None and self._open.holds and self._open.part != part

    def _play(self, delta: Delta) -> list[Step]:
        steps: list[Step] = []
        for piece, kind in _pieces(delta):
            steps += self._play_piece(piece, kind)
        return steps

    def _play_piece(self, piece: Delta, kind: Kind) -> list[Step]:
        steps: list[Step] = []
        open = self._open
        if open is None or (open.part, open.kind) != (piece.part, kind) or kind is Kind.REDACTED:
            if isinstance(piece, CallDelta):
                return []  # after its end: blanks, or what follows a whole object
            steps = self._close()
            self._index += 1
            self._open = open = _Open(piece.part, kind, self._index)
            steps.append(_began(piece, kind, self._index))
        return steps + open.feed(piece)

    def _close(self) -> list[Step]:
        open, self._open = self._open, None
        return [] if open is None else open.close()


def _began(piece: Delta, kind: Kind, index: int) -> BlockBegan:
    call = piece if isinstance(piece, CallBegan) else None
    if isinstance(piece, ReasoningDelta):
        return BlockBegan(index, kind, hidden=piece.hidden, origin=piece.origin)
    return BlockBegan(index, kind, call)


class _Open:
    """The block that is open. ``holds``: others wait for it."""

    def __init__(self, part: int, kind: Kind, index: int) -> None:
        self.part = part
        self.kind = kind
        self._index = index
        self._arguments = _Arguments()

    @property
    def holds(self) -> bool:
        return self.kind is Kind.CALL and not self._arguments.complete

    def feed(self, piece: Delta) -> list[Step]:
        if self.kind is Kind.REDACTED or isinstance(piece, CallBegan):
            return []
        if isinstance(piece, CallDelta):
            return self._pieces(self._arguments.feed(piece.arguments))
        return [BlockDelta(self._index, piece)]

    def close(self) -> list[Step]:
        return [*self._pieces(self._arguments.rest()), BlockEnded(self._index)]

    def _pieces(self, arguments: str) -> list[Step]:
        return [BlockDelta(self._index, CallDelta(self.part, arguments))] if arguments else []


class _Arguments:
    """Those of one call. What begins as an object passes as it comes; anything else is held whole,
    to be wrapped as Messages' clients can read it.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._passes: bool | None = None
        """Unknown until the first character that is no blank."""
        self._scanner: Final = ObjectScanner()

    @property
    def complete(self) -> bool:
        return self._scanner.complete

    def feed(self, text: str) -> str:
        if self._passes is None and text.strip():
            self._passes = text.lstrip().startswith("{")
        self._held.append(text)
        return self._released() if self._passes else ""

    def _released(self) -> str:
        text, self._held = "".join(self._held), []
        self._scanner.feed(text)
        return text

    def rest(self) -> str:
        held, self._held = "".join(self._held), []
        return orjson.dumps(to_input(held)).decode() if held.strip() else ""


def _pieces(delta: Delta) -> list[tuple[Delta, Kind]]:
    """A delta as those of single blocks; none of one that says nothing."""
    match delta:
        case TextDelta(_, text) | RefusalDelta(_, text):
            return [(delta, Kind.TEXT)] if text else []
        case CallBegan():
            return [(delta, Kind.CALL)]
        case CallDelta():
            return [(delta, Kind.CALL)]
        case ReasoningDelta():
            pieces: list[tuple[Delta, Kind]] = []
            if delta.text or delta.signature:
                pieces.append((replace(delta, hidden=None), Kind.THINKING))
            if delta.hidden:
                pieces.append(
                    (
                        ReasoningDelta(delta.part, hidden=delta.hidden, origin=delta.origin),
                        Kind.REDACTED,
                    )
                )
            return pieces
