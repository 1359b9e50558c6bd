"""Runs a scheduler's forwards on an event loop, one at a time, off the loop (SRV-7).

The loop only moves tickets. Forwards run in a thread of their own, and so does the tokenising of
long texts; a short text is tokenised where it arrives, for a thread costs more than that.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from models.engine import Engine, PreparedRow, RejectedInput
from models.questions.types import Answer, AnswerError, ErrorAnswer
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from models.scheduling.model_thread import ModelThread
from models.scheduling.presence import Place, Readers
from models.scheduling.scheduler import Scheduler
from models.scheduling.settings import Settings
from models.scheduling.stats import ReplicaStats
from models.scheduling.work import Forward, Item, Phase, Ticket

logger = logging.getLogger(__name__)

SHORT_CHARACTERS: Final = 2048
SHORT_ROWS: Final = 16
"""Of a call's unread texts together: at most a millisecond or two of the loop."""

TOKENIZE_CHARACTERS: Final = 16_384
TOKENIZE_ROWS: Final = 256
"""Handed to the tokenising thread at once."""

FAR_BEYOND: Final = 5
"""A forward that takes this many times its prediction, and ``stuck_after_s``, is stuck."""

Pending: TypeAlias = "asyncio.Future[ModelReply]"


class Arrival:
    """A call on its way in, stamped on receipt: its deadline and its wait count from there."""

    __slots__ = ("call", "received", "ticket")

    def __init__(self, call: ModelCall, received: float) -> None:
        self.call = call
        self.received = received
        self.ticket: Ticket | None = None


class Runner:
    """Owned by one event loop: every method is called there, ``close`` too."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings | None = None,
        *,
        stuck_after_s: float = 30.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._scheduler = Scheduler(engine.card.revision, settings)
        self._stuck_after_s = stuck_after_s
        self._clock = clock
        self._model_thread = ModelThread("model")
        self._text_thread = ModelThread("tokenizer")
        self._pending: dict[Ticket, Pending] = {}
        self._places: dict[Ticket, Place] = {}
        self._readers = Readers()
        self._unread: deque[Item] = deque()
        self._reading = False
        self._advancing = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def arrival(self, call: ModelCall) -> Arrival:
        return Arrival(ModelCall(call.rows, call.left_s, place=call.place), self._clock())

    def submit(self, arrivals: Sequence[Arrival]) -> list[Pending | Refusal]:
        """Takes calls in. A forward starts in the loop's next turn, with all that came in this."""
        taken = [self._take(arrival) for arrival in arrivals]
        if not self._advancing:
            self._advancing = True
            asyncio.get_running_loop().call_soon(self._advance)
        return taken

    @property
    def idle(self) -> bool:
        """No forward runs: a call that comes now waits for nothing."""
        return self._scheduler.running is None

    def cancel(self, arrival: Arrival) -> None:
        """The caller is gone. A computation that others wait for goes on (BUD-4)."""
        if arrival.ticket is not None:
            self._scheduler.cancel(arrival.ticket)
            self._pending.pop(arrival.ticket, None)
            self._places.pop(arrival.ticket, None)

    def stuck(self) -> str | None:
        """Why no progress is to be expected of the threads, or ``None``."""
        if not (self._model_thread.alive and self._text_thread.alive):
            return "a thread of the model has died"
        forward = self._scheduler.running
        if forward is None:
            return None
        elapsed_s = self._clock() - forward.formed
        if elapsed_s <= max(self._stuck_after_s, FAR_BEYOND * forward.predicted_s):
            return None
        return f"a forward predicted to take {forward.predicted_s:.2f} s runs for {elapsed_s:.0f} s"

    def stats(self) -> ReplicaStats:
        scheduler = self._scheduler
        return ReplicaStats(
            open_calls=scheduler.calls,
            waiting_rows=scheduler.waiting_rows,
            queued_s=scheduler.queued_s(self._clock()),
            counts=scheduler.counts,
        )

    def close(self) -> None:
        """Ends the threads once their present work is done."""
        self._model_thread.close()
        self._text_thread.close()
        if self._timer is not None:
            self._timer.cancel()

    def _take(self, arrival: Arrival) -> Pending | Refusal:
        ticket = self._scheduler.submit(arrival.call, arrival.received)
        if isinstance(ticket, Refusal):
            return ticket
        arrival.ticket = ticket
        pending: Pending = asyncio.get_running_loop().create_future()
        self._pending[ticket] = pending
        if arrival.call.place is not None:
            self._places[ticket] = arrival.call.place
        unread, ticket.unread = ticket.unread, []
        characters = sum([item.characters for item in unread])
        if characters <= SHORT_CHARACTERS and len(unread) <= SHORT_ROWS:
            self._read(self._tokenize(unread))
        else:
            self._unread.extend(unread)
            self._read_on()
        return pending

    def _advance(self) -> None:
        """Starts what can start, answers who can be answered, sets the next alarm."""
        self._advancing = False
        if self._scheduler.running is None:
            self._drop_who_left()
        forward = self._scheduler.next_forward(self._clock())
        if forward is not None:
            job = partial(self._compute, forward)
            self._model_thread.run(job, partial(self._computed, forward))
        for ticket in self._scheduler.answered():
            pending = self._pending.pop(ticket, None)
            self._places.pop(ticket, None)
            if pending is not None and not pending.done() and ticket.reply is not None:
                pending.set_result(ticket.reply)
        self._set_alarm()

    def _drop_who_left(self) -> None:
        """Before a forward, for the message that cancels a call may come long after, or never
        where the caller's process has died: so whoever awaits the call is cancelled here (BUD-4).
        """
        left = [ticket for ticket, place in self._places.items() if self._readers.left(place)]
        for ticket in left:
            self._scheduler.cancel(ticket)
            del self._places[ticket]
            pending = self._pending.pop(ticket, None)
            if pending is not None:
                pending.cancel()

    def _compute(self, forward: Forward) -> Computed:
        """In the model thread."""
        started = self._clock()
        try:
            # here, where what is no answers at all fails its own forward and nothing else
            answers = [tuple(row) for row in self._engine.forward(forward.rows)]
        except Exception as error:
            _log_failure("a forward", error)
            answers = None
        return answers, started, self._clock()

    def _computed(self, forward: Forward, computed: Computed) -> None:
        answers, started, ended = computed
        if answers is None:
            self._scheduler.failed(forward, started, ended)
        else:
            self._scheduler.finished(forward, answers, started, ended)
        self._advance()

    def _read_on(self) -> None:
        """Hands the next unread texts to the tokenising thread, if it is free."""
        if self._reading:
            return
        batch: list[Item] = []
        characters = 0
        while self._unread and characters < TOKENIZE_CHARACTERS and len(batch) < TOKENIZE_ROWS:
            item = self._unread.popleft()
            if item.phase is Phase.UNREAD:
                batch.append(item)
                characters += item.characters
        if batch:
            self._reading = True
            self._text_thread.run(partial(self._tokenize, batch), self._tokenized)

    def _tokenize(self, items: Sequence[Item]) -> list[Read]:
        """On the loop or in the tokenising thread."""
        read: list[Read] = []
        for item in items:
            started = self._clock()
            row: PreparedRow | ErrorAnswer
            try:
                row = self._engine.prepare(item.row)
            except RejectedInput as rejected:
                row = rejected.answer
            except Exception as error:
                _log_failure("tokenising", error)
                row = UNREAD
            read.append((item, row, self._clock() - started))
        return read

    def _tokenized(self, read: list[Read]) -> None:
        self._reading = False
        self._read(read)
        self._read_on()
        self._advance()

    def _read(self, read: list[Read]) -> None:
        for item, row, seconds in read:
            if isinstance(row, ErrorAnswer):
                self._scheduler.unreadable(item, row, self._clock())
            else:
                self._scheduler.prepared(item, row, seconds)

    def _set_alarm(self) -> None:
        """At the next deadline: a call that expires behind a long forward is answered then."""
        deadline = self._scheduler.next_deadline()
        if deadline is None or (self._timer is not None and self._timer_at <= deadline):
            return
        if self._timer is not None:
            self._timer.cancel()
        delay_s = max(0.0, deadline - self._clock())
        self._timer_at = deadline
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._alarm)

    def _alarm(self) -> None:
        self._timer = None
        self._scheduler.expire(self._clock())
        self._advance()


Computed: TypeAlias = tuple[list[tuple[Answer, ...]] | None, float, float]
"""Answers or ``None`` after a failure, start, end."""

Read: TypeAlias = tuple[Item, PreparedRow | ErrorAnswer, float]
"""An item, its tokens or why there are none, the seconds that took."""

UNREAD: Final = ErrorAnswer(AnswerError.UNAVAILABLE, "the text could not be tokenised")


def _log_failure(what: str, error: Exception) -> None:
    """Without the error's message, which may hold text of a request."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s failed: %s\n%s", what, type(error).__name__, frames)
