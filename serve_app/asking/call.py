"""A call to a decision model, as a value, and what comes back (SIG-3, SIG-4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from models.questions.types import Answer, JsonValue, Question


@dataclass(frozen=True, slots=True)
class Entry:
    """One state and its questions by id, in the order they are asked."""

    state: JsonValue
    questions: Mapping[str, Question]


@dataclass(frozen=True, slots=True)
class Call:
    """All questions of one stage for one deployment.

    ``entries``: entry name (``"1"``, ``"2"``, …) -> entry; one entry is a standard request, more
    are a batch. ``timeout_s``: how long the asker waits, from now; ``None`` waits for ever.
    """

    deployment: str
    entries: Mapping[str, Entry]
    timeout_s: float | None = None


@dataclass(frozen=True)
class Timings:
    """Milliseconds inside the model's replica."""

    queue_ms: float = 0.0
    tokenize_ms: float = 0.0
    forward_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """``answers``: entry name -> question id -> answer, complete: a question without an answer
    is an ``ErrorAnswer``. ``elapsed_ms`` is the asker's wait. ``attempts``: how many times the
    model was asked: 0 where every answer was kept from before, up to 3 at a remote API (MRG-5).
    ``retry_after_s``: when a model without room would be asked again, if it said so.
    """

    answers: Mapping[str, Mapping[str, Answer]]
    input_tokens: int = 0
    elapsed_ms: float = 0.0
    timings: Timings = Timings()
    attempts: int = 1
    retry_after_s: float | None = None


Ask: TypeAlias = Callable[[Call], Awaitable[Reply]]
"""The policy's one effect. It never raises for a failed call: every question of it then has an
``ErrorAnswer`` with the reason."""
