"""An answer as it comes, whatever format its provider speaks (API-1, API-3).

A whole answer is the same events at once. Order: ``Began``; deltas, each of the part that it
opens or goes on with; ``Ended``; ``Used`` (at any time, the last counts). ``Failed`` ends a stream
at any place. Parts of a stream are told apart by ``part``, a number that grows; a format in which
parts follow one another (Anthropic) holds back the deltas of a later part that come between.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from serve_app.errors import WireFormat


class Stop(StrEnum):
    """Why an answer ended."""

    END = "end"
    LENGTH = "length"
    TOOLS = "tools"
    SEQUENCE = "sequence"
    FILTER = "filter"
    """Of a provider's own content filter, or a model that refuses as its format's reason."""
    PAUSE = "pause"
    """The provider asks to be called again with what there is."""


@dataclass(frozen=True, slots=True)
class Began:
    """``id`` and ``model`` as the provider says them; ``created``: seconds since 1970."""

    id: str
    model: str
    created: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """``signature``, ``hidden``, ``origin``: see ``conversation.Reasoning``; whole where they are
    given."""

    part: int
    text: str = ""
    signature: str | None = None
    hidden: str | None = None
    origin: WireFormat | None = None


@dataclass(frozen=True, slots=True)
class CallBegan:
    part: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    part: int
    arguments: str


@dataclass(frozen=True, slots=True)
class Ended:
    """``sequence``: the stop sequence that was met."""

    stop: Stop
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens. ``input`` counts all of the prompt, read from a cache or not; ``cached``, ``written``
    (into the provider's cache) and ``reasoning`` are parts of ``input`` and ``output``."""

    input: int
    output: int
    cached: int | None = None
    written: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """An error that the provider told of after it had answered 200. ``kind``: its own word."""

    message: str
    kind: str | None = None
    status: int | None = None


Delta: TypeAlias = TextDelta | RefusalDelta | ReasoningDelta | CallBegan | CallDelta
Event: TypeAlias = Began | Delta | Ended | Used | Failed
