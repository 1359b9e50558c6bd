"""Scans of one request, driven: windows are sent as there is room, answers taken as they come."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from models.questions.types import Answer, AnswerError, ErrorAnswer
from serve_app.asking.call import Ask, Call, Entry, Reply
from serve_app.asking.planning import longest
from serve_app.asking.stage import Clock, answered
from serve_app.config.sizes import Sizes
from serve_app.scan.scan import Piece, Scan

_NO_ROOM: Final = frozenset({AnswerError.OVERLOADED, AnswerError.NOT_READY})
"""Of a model that may refuse the other windows too."""

HEAD_START_S: Final = 1.0
"""How long at most the tails are out before other windows are sent. Calls that are sent together
overtake each other on the way, and the tail is to be the first in the model's queue (SCAN-2)."""

_REFUSALS: Final = 4
"""In a row, after which a model of fewer slots is asked no more."""


@dataclass(frozen=True, slots=True)
class RunningScan:
    """A scan at a deployment. ``rules``: the places of its rules, in its order."""

    deployment: str
    sizes: Sizes
    scan: Scan
    rules: Sequence[int]


class WindowReader:
    """Reads the windows of all ``scans`` of a request, until ``deadline`` on ``clock``, or until
    what has been found ``refuses`` the request, whatever is unread (SCAN-5).

    A window that a model without room refuses is unread, and closes one of the model's slots until
    the model answers again: a queue that is full for a moment costs a window or a few, not the
    scan. After as many refusals in a row as there are slots, four at least, the model is asked no
    more.
    """

    def __init__(
        self,
        scans: Sequence[RunningScan],
        ask: Ask,
        clock: Clock,
        deadline: float,
        refuses: Callable[[], bool],
    ) -> None:
        self._scans = scans
        self._ask = ask
        self._clock = clock
        self._deadline = deadline
        self._refuses = refuses
        self._refused: Counter[str] = Counter()
        """By deployment, in a row."""
        self._out: dict[asyncio.Task[Reply], tuple[RunningScan, Piece, Call]] = {}
        self._tails: frozenset[asyncio.Task[Reply]] = frozenset()
        self._alone_until = 0.0
        self.exchanges: list[tuple[Call, Reply]] = []

    def begin(self) -> None:
        """Sends the tails, before anything else of the request is sent, so that each has a forward
        of its own in a model that is idle."""
        self._send(urgent=True)
        self._tails = frozenset(self._out)
        self._alone_until = self._clock() + HEAD_START_S

    @property
    def _tails_alone_s(self) -> float:
        """Seconds that other windows still wait for those who went first."""
        if self._tails.isdisjoint(self._out):
            return 0.0
        return max(0.0, self._alone_until - self._clock())

    def _send(self, *, urgent: bool) -> None:
        """Sends what there is room for, or of that what is ``urgent``."""
        running = [one for one, _, _ in self._out.values()]
        for one, piece in _room(self._scans, running, self._refused, self._clock(), urgent=urgent):
            call = _call(one, piece, self._deadline - self._clock())
            task = asyncio.create_task(_reply(call, self._ask, self._clock))
            self._out[task] = one, piece, call

    async def read(self) -> bool:
        """Returns when nothing is left, the deadline has come, or the request is refused: then
        true. What is out then is cancelled (SCAN-3, SCAN-5)."""
        try:
            while self._out:
                done, _ = await asyncio.wait(
                    self._out,
                    timeout=self._tails_alone_s or None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    one, piece, call = self._out.pop(task)
                    reply = task.result()
                    self.exchanges.append((call, reply))
                    self._take(one, piece, reply)
                if self._refuses():
                    return True
                if self._clock() >= self._deadline:
                    return False
                self._send(urgent=self._tails_alone_s > 0)
            return False
        finally:
            for task in self._out:
                task.cancel()
            await asyncio.gather(*self._out, return_exceptions=True)

    def _take(self, one: RunningScan, piece: Piece, reply: Reply) -> None:
        answers = reply.answers["1"]
        bounds = {i: one.scan.rules[i].timeout_s for i in piece.rules}
        took_s = reply.elapsed_ms / 1000
        late = {i for i, bound in bounds.items() if bound is not None and took_s > bound}
        seconds = took_s if was_computed(reply) else None
        one.scan.answered(piece, answers, late=late, seconds=seconds)
        self._count_refusals(one, answers)

    def _count_refusals(self, one: RunningScan, answers: Mapping[str, Answer]) -> None:
        errors = [a.error for a in answers.values() if isinstance(a, ErrorAnswer)]
        if len(errors) < len(answers):
            self._refused[one.deployment] = 0
        elif not _NO_ROOM.isdisjoint(errors):
            self._refused[one.deployment] += 1
            if self._refused[one.deployment] >= max(one.sizes.max_parallel, _REFUSALS):
                for other in self._scans:
                    if other.deployment == one.deployment:
                        other.scan.stop()


def was_computed(reply: Reply) -> bool:
    """Whether a model was asked and computed every answer: what was known before, refused or given
    up says nothing of its speed."""
    if reply.attempts == 0 or reply.unanswered:
        return False
    return reply.timings is None or reply.timings.forward_ms > 0


def _room(
    scans: Sequence[RunningScan],
    out: Sequence[RunningScan],
    refused: Counter[str],
    now: float,
    *,
    urgent: bool,
) -> list[tuple[RunningScan, Piece]]:
    """The windows to be sent now: what is urgent first, then, unless ``urgent`` is asked for, of
    the scan that is least far. ``refused``: by deployment, how many of its slots are closed; one is
    always open."""
    sent: list[tuple[RunningScan, Piece]] = []
    busy = Counter(running.deployment for running in out)
    while True:
        ready = [
            one
            for one in scans
            if busy[one.deployment] < max(1, one.sizes.max_parallel - refused[one.deployment])
            and one.scan.waiting
            and (one.scan.urgent or not urgent)
        ]
        if not ready:
            return sent
        one = min(ready, key=lambda one: (not one.scan.urgent, one.scan.progress))
        piece = one.scan.next(now)
        if piece is not None:
            busy[one.deployment] += 1
            sent.append((one, piece))


def _call(one: RunningScan, piece: Piece, left_s: float) -> Call:
    bound_s = longest([one.scan.rules[i].timeout_s for i in piece.rules])
    entries = {"1": Entry({"request": piece.text}, piece.questions)}
    return Call(one.deployment, entries, bound_s).within(left_s)


async def _reply(call: Call, ask: Ask, clock: Clock) -> Reply:
    (reply,) = await answered([call], ask, clock)
    return reply
