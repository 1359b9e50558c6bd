"""Calls in, forwards out, answers back: the state machine of one replica.

    submit ─► Ticket with unread items ─► prepared ─► next_forward ─► finished | failed
                    └─ cancel, expire                       └─────────► answered()

Invariants (SRV-5 to SRV-10, BUD-2, BUD-4):

- a call is admitted whole or refused whole, and an admitted call is answered exactly once,
  unless it is cancelled;
- there is one forward at a time, of rows of one bucket, within the budget unless it is one row;
- a row is computed only while somebody with time left waits for it, and for everyone at once;
- a failed forward fails its own rows and nothing else.

Times are seconds of one monotonic clock, given by the caller and never decreasing. Not
thread-safe: one thread, or one event loop, calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from models.engine import PreparedRow, Row
from models.questions.types import Answer, AnswerError, ErrorAnswer
from models.questions.validation import validated
from models.scheduling.admission import Admission
from models.scheduling.cost import CostModel, TextCost
from models.scheduling.deadlines import Deadlines
from models.scheduling.keys import ContentKeys
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from models.scheduling.order import Line
from models.scheduling.result_cache import ResultCache
from models.scheduling.settings import Settings
from models.scheduling.single_flight import Flights
from models.scheduling.stats import Counts
from models.scheduling.work import Forward, Item, Phase, Ticket


class Scheduler:
    """See the module. ``revision`` names the model whose answers these are."""

    def __init__(self, revision: str, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        self.counts = Counts()
        self._cost = CostModel()
        self._text_cost = TextCost()
        self._cache = ResultCache(settings.cached_answers)
        self._flights = Flights(ContentKeys(revision), self._cache, self._text_cost)
        self._admission = Admission(settings, self._cost)
        self._line = Line(settings.budget, settings.patience_s)
        self._deadlines = Deadlines()
        self._running: Forward | None = None
        self._answered: list[Ticket] = []

    @property
    def calls(self) -> int:
        """Admitted calls without an answer."""
        return self._admission.calls

    @property
    def waiting_rows(self) -> int:
        return self._admission.backlog.rows

    @property
    def running(self) -> Forward | None:
        return self._running

    def queued_s(self, now: float) -> float:
        """Predicted seconds until everything admitted is computed."""
        return self._admission.queued_s(self._running, now)

    def next_deadline(self) -> float | None:
        return self._deadlines.next()

    def answered(self) -> list[Ticket]:
        """The tickets answered since it was last asked, each with its ``reply``."""
        answered, self._answered = self._answered, []
        return answered

    def submit(self, call: ModelCall, now: float) -> Ticket | Refusal:
        """Admits a call that was received ``now``, or refuses it.

        The caller has ``ticket.unread`` tokenised and reports each by ``prepared`` or
        ``unreadable``. A call whose answers are all cached is answered at once.
        """
        ticket, seats = self._flights.plan(call, now)
        if ticket.deadline is not None and ticket.deadline <= now and ticket.missing:
            self.counts.took(ticket)
            self.counts.expired_calls += 1
            self.counts.expired += ticket.missing
            ticket.unread.clear()
            self._answer(ticket)
            return ticket
        if ticket.missing:
            tokens = sum(item.cost for item in ticket.unread)
            refusal = self._admission.refusal(len(ticket.unread), tokens, self._running, now)
            if refusal is not None:
                self.counts.refused += 1
                return refusal
            ticket.open = True
            self._admission.calls += 1
            self._admission.backlog.add(len(ticket.unread), tokens)
            self._flights.join(ticket, seats)
            self._deadlines.add(ticket)
        self.counts.took(ticket)
        if not ticket.missing:
            self._answer(ticket)
        return ticket

    def prepared(self, item: Item, row: PreparedRow, tokenize_s: float) -> None:
        """The tokens of an unread item, which took ``tokenize_s``. It may run from now on."""
        if item.phase is not Phase.UNREAD:
            return
        self._text_cost.measured(item.characters, row.cost)
        self._admission.backlog.add(0, row.cost - item.cost)
        item.cost = row.cost
        item.prepared = row
        item.tokenize_s = tokenize_s
        self._line.push(item, row.bucket)

    def unreadable(self, item: Item, error: ErrorAnswer, now: float) -> None:
        """The engine rejected the item's state, or tokenising failed: ``error`` is the answer to
        each of its questions, for all who wait for them."""
        if item.phase is Phase.UNREAD:
            self._admission.backlog.add(-1, -item.cost)
            self._deliver(item, (error,) * len(item.flights), now, now)

    def next_forward(self, now: float) -> Forward | None:
        """What to compute next; ``None`` while a forward runs or nothing can run."""
        if self._running is not None:
            return None
        self.expire(now)
        items = self._line.take()
        if not items:
            return None
        tokens = sum(item.cost for item in items)
        self._admission.backlog.add(-len(items), -tokens)
        rows = tuple(item.prepared for item in items if item.prepared is not None)
        self._running = Forward(tuple(items), rows, tokens, self._cost.seconds(tokens), now)
        self.counts.forwards += 1
        self.counts.rows += len(items)
        self.counts.tokens += tokens
        return self._running

    def finished(
        self, forward: Forward, answers: Sequence[Sequence[Answer]], started: float, now: float
    ) -> None:
        """The forward ran from ``started`` to ``now``. ``answers``: per row, one per question."""
        if len(answers) != len(forward.items):
            self.failed(forward, started, now)
            return
        self._cost.measured(forward.tokens, now - started)
        self._ran(forward, now)
        for item, row_answers in zip(forward.items, answers, strict=True):
            whole = len(row_answers) == len(item.flights) and None not in row_answers
            self._deliver(item, row_answers if whole else None, started, now)

    def failed(self, forward: Forward, started: float, now: float) -> None:
        """The forward raised: its rows are ``UNAVAILABLE``."""
        self.counts.failed_forwards += 1
        self._ran(forward, now)
        for item in forward.items:
            self._deliver(item, None, started, now)

    def cancel(self, ticket: Ticket) -> None:
        """The caller is gone: nobody gets an answer."""
        if ticket.open:
            self._close(ticket)
            self.counts.cancelled_calls += 1
            self.counts.cancelled += self._leave(ticket)

    def expire(self, now: float) -> None:
        """Ends the calls whose deadline has come: the answers they have stay theirs."""
        for ticket in self._deadlines.expired(now):
            self._close(ticket)
            self.counts.expired_calls += 1
            self.counts.expired += self._leave(ticket)
            self._answer(ticket, queue_s=now - ticket.received)

    def _ran(self, forward: Forward, now: float) -> None:
        self._running = None
        self._line.ran(forward.items, now - forward.formed, self._admission.calls)

    def _deliver(
        self, item: Item, answers: Sequence[Answer] | None, started: float, now: float
    ) -> None:
        item.phase = Phase.GONE
        self._flights.close(item)
        tokens = 0 if item.prepared is None else item.prepared.tokens
        for q, flight in enumerate(item.flights):
            asked = item.row.questions[q]
            answer = UNAVAILABLE if answers is None else validated(asked, answers[q])
            if not isinstance(answer, ErrorAnswer):
                self._text_cost.answered(asked)
                self._cache.put(flight.key, asked, answer, tokens)
            for ticket, row, question in flight.waiters:
                ticket.fill(row, question, answer, tokens)
                if not ticket.missing:
                    self._close(ticket)
                    tokenize_s = item.tokenize_s if item.opener is ticket else 0.0
                    queue_s = max(0.0, started - ticket.received - tokenize_s)
                    forward_s = now - max(started, ticket.received)
                    self._answer(ticket, queue_s, tokenize_s, forward_s)
        item.flights = []

    def _leave(self, ticket: Ticket) -> int:
        """Gives up a ticket's seats; returns how many questions are dropped unread for it."""
        dropped = 0
        for item in self._flights.leave(ticket):
            if item.phase is Phase.RUNNING or item.phase is Phase.GONE:
                continue
            item.phase = Phase.GONE
            self._flights.close(item)
            self._admission.backlog.add(-1, -item.cost)
            dropped += len(item.flights)
            item.flights, item.prepared, item.row = [], None, NOTHING
        return dropped

    def _close(self, ticket: Ticket) -> None:
        ticket.open = False
        self._admission.calls -= 1
        self._deadlines.discard(ticket)

    def _answer(
        self, ticket: Ticket, queue_s: float = 0.0, tokenize_s: float = 0.0, forward_s: float = 0.0
    ) -> None:
        """Only a deadline leaves a place of an answered call empty."""
        ticket.flights.clear()
        ticket.reply = ModelReply(
            answers=tuple(
                tuple(EXPIRED if answer is None else answer for answer in row)
                for row in ticket.answers
            ),
            tokens=tuple(ticket.tokens),
            queue_ms=queue_s * 1e3,
            tokenize_ms=tokenize_s * 1e3,
            forward_ms=forward_s * 1e3,
        )
        self._answered.append(ticket)


NOTHING: Final = Row("", ())
"""The row of a dropped item: the queue forgets the item later, but no text is kept that long."""

EXPIRED: Final = ErrorAnswer(AnswerError.DEADLINE_EXCEEDED)
UNAVAILABLE: Final = ErrorAnswer(AnswerError.UNAVAILABLE, "the forward failed")
