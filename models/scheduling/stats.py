"""What a replica did and has to do, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from models.scheduling.work import Ticket


@dataclass(slots=True)
class Counts:
    """Totals since the replica started.

    ``calls``: received and not ``refused``; ``questions``: in them, of which ``cached`` were
    answered from the cache and ``shared`` joined a computation in flight. ``expired`` and
    ``cancelled``: questions dropped unread because the last call that waited for them ran out of
    time (BUD-2) or was cancelled. ``rows`` and ``tokens`` (padded): computed in ``forwards``.
    """

    calls: int = 0
    refused: int = 0
    questions: int = 0
    cached: int = 0
    shared: int = 0
    expired_calls: int = 0
    expired: int = 0
    cancelled_calls: int = 0
    cancelled: int = 0
    forwards: int = 0
    failed_forwards: int = 0
    rows: int = 0
    tokens: int = 0

    def took(self, ticket: Ticket) -> None:
        """A call that was not refused, as planned."""
        questions = sum(map(len, ticket.answers))
        own = sum([len(item.flights) for item in ticket.unread])
        self.calls += 1
        self.questions += questions
        self.cached += questions - ticket.missing
        self.shared += ticket.missing - own


@dataclass(frozen=True, slots=True)
class ReplicaStats:
    """``open_calls``: without an answer. ``queued_s``: predicted seconds of all that waits or
    runs."""

    open_calls: int = 0
    waiting_rows: int = 0
    queued_s: float = 0.0
    counts: Counts = field(default_factory=Counts)

    @property
    def mean_batch(self) -> float:
        """Rows per forward."""
        return self.counts.rows / max(1, self.counts.forwards)
