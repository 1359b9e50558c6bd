"""What travels between an asker and a model's replica.

Frozen, small, validated by the asker (SRV-2). A refusal is a value and no exception: it is an
answer of its own, cheap to send and told apart from a crash.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final

from models.engine import Row
from models.questions.types import Answer, AnswerError
from models.scheduling.presence import Place


@dataclass(frozen=True)
class ModelCall:
    """Rows asked together: admitted whole or refused whole (SRV-8).

    ``remaining_s``: time the asker still waits, counted ``since`` this value was made, on the
    clock of its process; ``None`` waits for ever. A call travels with what is left when it is
    written. Its way counts too where both ends read one clock: a burst of calls takes longer to
    arrive than many an asker waits. Clocks of nodes differ, so there it does not (SRV-9).
    ``place``: where the asker says that it left, if it can.
    """

    rows: tuple[Row, ...]
    remaining_s: float | None = None
    since: float = field(default_factory=monotonic, compare=False, repr=False)
    place: Place | None = field(default=None, compare=False, repr=False)

    @property
    def left_s(self) -> float | None:
        """Time the asker still waits from now; 0 or less where it does not."""
        return None if self.remaining_s is None else self.remaining_s - (monotonic() - self.since)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.rows, self.left_s, self.place, BOOT, monotonic())


def _received(
    rows: tuple[Row, ...],
    left_s: float | None,
    place: Place | None,
    boot: str | None,
    sent: float,
) -> ModelCall:
    now = monotonic()
    if boot is None or boot != BOOT:
        return ModelCall(rows, left_s, now)
    if left_s is not None:
        left_s -= max(0.0, now - sent)
    return ModelCall(rows, left_s, now, place)


def _boot() -> str | None:
    """Names this start of this machine, whose processes share a monotonic clock."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


BOOT: Final = _boot()


@dataclass(frozen=True)
class ModelReply:
    """``answers``: per row, an answer per question. ``tokens``: per row, of its state.

    The times are milliseconds of the call's longest row: waiting, tokenising, computing.
    ``heard`` is false where the asker says it, having heard of no replica.
    """

    answers: tuple[tuple[Answer, ...], ...]
    tokens: tuple[int, ...]
    queue_ms: float
    tokenize_ms: float
    forward_ms: float
    heard: bool = True


@dataclass(frozen=True)
class Refusal:
    """The replica took nothing of the call: ``OVERLOADED`` or ``NOT_READY``."""

    error: AnswerError
    predicted_wait_s: float = 0.0
