"""A call to a decision model, as a value, and what comes back (SIG-3, SIG-4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from models.questions.types import Answer, AnswerError, ErrorAnswer, JsonValue, Question


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

    def within(self, deadline_s: float) -> Call:
        """The call, which waits no longer than ``deadline_s`` from now."""
        left_s = max(0.0, deadline_s)
        if self.timeout_s is not None and self.timeout_s <= left_s:
            return self
        return replace(self, timeout_s=left_s)


@dataclass(frozen=True)
class Timings:
    """Milliseconds inside the model's replica."""

    queue_ms: float = 0.0
    tokenize_ms: float = 0.0
    forward_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """``answers``: entry name -> question id -> answer, complete: a question without an answer
    is an ``ErrorAnswer``. ``tokens``: entry name -> its state's; of the whole call under its first
    entry where a model counts no parts. ``elapsed_ms`` is the asker's wait. ``timings`` is ``None``
    where no replica of a local model replied. ``attempts``: how many times the
    model was asked: 0 where every answer was kept from before, up to 3 at a remote API (MRG-5).
    ``retry_after_s``: when a model without room would be asked again, if it said so.
    """

    answers: Mapping[str, Mapping[str, Answer]]
    tokens: Mapping[str, int] = field(default_factory=dict)
    elapsed_ms: float = 0.0
    timings: Timings | None = None
    attempts: int = 1
    retry_after_s: float | None = None

    @property
    def unanswered(self) -> dict[str, dict[str, AnswerError]]:
        """Entry name -> question id -> why there is no answer, of those that have none."""
        reasons = {
            name: {id: a.error for id, a in by_id.items() if isinstance(a, ErrorAnswer)}
            for name, by_id in self.answers.items()
        }
        return {name: by_id for name, by_id in reasons.items() if by_id}


Ask: TypeAlias = Callable[[Call], Awaitable[Reply]]
"""The policy's one effect. It never raises for a failed call: every question of it then has an
``ErrorAnswer`` with the reason."""
