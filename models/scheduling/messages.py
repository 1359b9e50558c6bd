"""What travels between an asker and a model's replica.

Frozen, small, validated by the asker (SRV-2). A refusal is a value and no exception: it is an
answer of its own, cheap to send and told apart from a crash.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.engine import Row
from models.questions.types import Answer, AnswerError


@dataclass(frozen=True)
class ModelCall:
    """Rows asked together: admitted whole or refused whole (SRV-8).

    ``remaining_s``: time the asker still waits, measured when it sent the call (clocks of
    nodes differ, SRV-9); ``None`` waits for ever.
    """

    rows: tuple[Row, ...]
    remaining_s: float | None = None


@dataclass(frozen=True)
class ModelReply:
    """``answers``: per row, an answer per question. ``tokens``: per row, of its state.

    The times are milliseconds of the call's longest row: waiting, tokenising, computing.
    """

    answers: tuple[tuple[Answer, ...], ...]
    tokens: tuple[int, ...]
    queue_ms: float
    tokenize_ms: float
    forward_ms: float


@dataclass(frozen=True)
class Refusal:
    """The replica took nothing of the call: ``OVERLOADED`` or ``NOT_READY``."""

    error: AnswerError
    predicted_wait_s: float = 0.0
