"""One long input read in windows, as a state machine: it gives windows and takes answers. Time and
chance are given (SCAN-1 to SCAN-9)."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal

from models.questions.types import Answer, AnswerError, ErrorAnswer, Question, Span, SpanAnswer
from serve_app.config.sizes import Sizes
from serve_app.outcome import Coverage
from serve_app.reading import Reading, reading_of
from serve_app.scan.coverage import Found
from serve_app.scan.plan import WindowPlan
from serve_app.scan.rule import ScannedRule
from serve_app.scan.spans import joined, moved
from serve_app.scan.speed import Speed
from serve_app.scan.text import Text
from serve_app.scan.windows import Window, pieces

_LATE: Final = ErrorAnswer(AnswerError.DEADLINE_EXCEEDED)

AT_ONCE: Final = 0.5
"""Share of the margin up to which a window is read again before all others (SCAN-7)."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A window to be asked ``questions`` about. ``kind``: as planned, or read again."""

    window: Window
    text: str
    questions: Mapping[str, Question]
    rules: tuple[int, ...]
    kind: Literal["planned", "reread"] = "planned"


@dataclass(slots=True)
class _Again:
    """A window to be read once more for ``rules``. ``part``: it is a part of a larger one, and not
    read where a window of the configured size was read already (SCAN-7)."""

    window: Window
    rules: set[int]
    part: bool
    sent: bool = False


@dataclass(slots=True)
class _Seen:
    """Of a rule: the greatest values by option, planned windows read, why others were not; whether
    it was decided before the others were read."""

    values: tuple[float, ...] = ()
    read: int = 0
    decided: bool = False
    early: bool = False
    error: AnswerError | None = None
    unreadable: bool = False
    spans: list[Span] = field(default_factory=list)


class Scan:
    """``point``: 0 to 1, where bisection begins. ``speed``: what the deployment has measured so
    far. ``deadline``: seconds of the clock that ``next`` is told."""

    def __init__(
        self,
        text: str,
        sizes: Sizes,
        rules: Sequence[ScannedRule],
        *,
        point: float,
        speed: Speed,
        deadline: float,
    ) -> None:
        self.rules = tuple(rules)
        self._text = Text(text)
        self._sizes = sizes
        self._plan = WindowPlan(self._text, sizes, point)
        self._speed = speed
        self._deadline = deadline
        self._seen = [_Seen() for _ in self.rules]
        self._urgent: deque[_Again] = deque()
        self._later: list[tuple[float, int, _Again]] = []
        self._were_read: list[tuple[int, int]] = []
        self._number = count()
        self._out: list[Piece] = []
        self._pace = _Pace()
        self._stopped = False

    @property
    def waiting(self) -> bool:
        """Whether a window is left that some rule needs and that may be sent now."""
        if self._stopped or not any(map(self.needs, range(len(self.rules)))):
            return False
        if self._plan.left:
            return True
        if any(self._open(again) for again in self._urgent):
            return True
        if any(piece.kind == "planned" for piece in self._out):
            return False  # what is still to come may be nearer to its threshold
        return any(self._open(again) for _, _, again in self._later)

    @property
    def urgent(self) -> bool:
        """Whether what comes next goes before other scans' windows: the tail, and what is read
        again at once."""
        return not self._plan.taken or any(self._open(again) for again in self._urgent)

    @property
    def progress(self) -> float:
        """Share of the windows that may be read which is out or read."""
        return self._plan.taken / max(1, self._plan.taken + self._plan.left)

    def next(self, now: float) -> Piece | None:
        """The window to be sent now, ``None`` if there is none that a rule needs."""
        if not self.waiting:
            return None
        while self._urgent:
            piece = self._reread(self._urgent.popleft())
            if piece is not None:
                return piece
        self._keep_pace(now)
        window = self._plan.take()
        if window is not None:
            rules = tuple(filter(self.needs, range(len(self.rules))))
            return self._sent(window, rules, "planned")
        while self._later:
            piece = self._reread(heapq.heappop(self._later)[2])
            if piece is not None:
                return piece
        return None

    def answered(
        self,
        piece: Piece,
        answers: Mapping[str, Answer],
        *,
        late: Collection[int] = (),
        seconds: float | None = None,
    ) -> None:
        """``answers``: by question id; ``late``: the rules whose own bound has passed. ``seconds``:
        what the call took, ``None`` where it waited for room or was not computed (SCAN-10)."""
        self._out.remove(piece)
        good = False
        near: dict[int, float] = {}
        for i in piece.rules:
            answer: Answer = _LATE if i in late else answers[self.rules[i].id]
            if isinstance(answer, ErrorAnswer):
                self._failed(i, piece, answer.error)
                continue
            good = True
            gap = self._read(i, piece, answer)
            if gap <= self._sizes.reread_margin and self._sizes.reread_margin > 0:
                near[i] = gap
        if good and piece.window.size <= self._sizes.window:
            insort(self._were_read, (piece.window.start, piece.window.end))
        if good and seconds is not None:
            self._speed.measured(piece.window.size, seconds)
        if piece.kind == "planned":
            if good:
                self._pace.answered(seconds)
            self._read_again(piece.window, near)

    def stop(self) -> None:
        """Sends no more: the model has no room (COV-1)."""
        self._stopped = True

    def needs(self, index: int) -> bool:
        """Whether a window that is unread may change what the rule at ``index`` says (SCAN-5)."""
        return not self._seen[index].decided or self.rules[index].whole

    def reading_so_far(self, index: int) -> Reading:
        """Of the rule at ``index``, before the scan has ended."""
        return Reading(self._seen[index].values, windowed=True, open=self.needs(index))

    def found(self, index: int) -> Found:
        """What was found for the rule at ``index``."""
        seen = self._seen[index]
        error = seen.error
        if error is None:
            capped = not self._plan.left and not self._out
            error = AnswerError.MAX_LENGTH_EXCEEDED if capped else AnswerError.DEADLINE_EXCEEDED
        return Found(
            values=seen.values,
            coverage=Coverage(seen.read, self._plan.planned, seen.early),
            decided=seen.decided,
            error=error,
            unreadable=seen.unreadable,
            spans=joined(seen.spans, self._text.text),
        )

    def _open(self, again: _Again) -> tuple[int, ...]:
        """The rules that still need the window at this size."""
        if again.sent or (again.part and self._was_read(again.window)):
            return ()
        return tuple(i for i in sorted(again.rules) if not self._seen[i].decided)

    def _was_read(self, window: Window) -> bool:
        """Whether a window of the configured size that holds it was read and answered."""
        first = bisect_left(self._were_read, (window.end - self._sizes.window, 0))
        last = bisect_right(self._were_read, (window.start, self._text.size))
        return any(end >= window.end for _, end in self._were_read[first:last])

    def _reread(self, again: _Again) -> Piece | None:
        still = self._open(again)
        if not still:
            return None
        again.sent = True
        return self._sent(again.window, still, "reread")

    def _sent(
        self, window: Window, rules: tuple[int, ...], kind: Literal["planned", "reread"]
    ) -> Piece:
        questions = {self.rules[i].id: self.rules[i].question for i in rules}
        text = self._text.between(window.start, window.end)
        piece = Piece(window, text, questions, rules, kind)
        self._out.append(piece)
        self._pace.parallel = max(self._pace.parallel, len(self._out))
        return piece

    def _read(self, index: int, piece: Piece, answer: Answer) -> float:
        """Takes an answer in. Returns how far below the rule it stays, infinite if not below."""
        rule, seen = self.rules[index], self._seen[index]
        values = reading_of(rule.question, answer).values
        if isinstance(answer, SpanAnswer) and answer.spans:
            first = self._text.code_points(piece.window.start)
            seen.spans += moved(answer.spans, first)
        seen.values = tuple(map(max, seen.values, values)) if seen.values else values
        seen.read += piece.kind == "planned"
        if not seen.decided and rule.decided(seen.values):
            seen.decided = True
            seen.early = seen.read < self._plan.planned
        return float("inf") if seen.decided else rule.gap(values, seen.values)

    def _failed(self, index: int, piece: Piece, error: AnswerError) -> None:
        if piece.kind == "planned":
            seen = self._seen[index]
            seen.error = seen.error or error
            seen.unreadable = seen.unreadable or error is AnswerError.INVALID_INPUT

    def _read_again(self, window: Window, near: Mapping[int, float]) -> None:
        """Plans what of a planned window is read again for rules it came ``near`` (SCAN-7, -8)."""
        if not near:
            return
        if window.size > self._sizes.window:
            soon = min(near.values()) <= self._sizes.reread_margin * AT_ONCE
            for piece in pieces(self._text, window, self._sizes.window, self._sizes.overlap):
                again = _Again(piece, set(near), part=True)
                if soon:  # what is read again is read for all rules that are near
                    self._urgent.append(again)
                else:
                    gap = min(near.values())
                    heapq.heappush(self._later, (gap, next(self._number), again))
        elif window == self._plan.tail:
            end = self._text.size
            half = Window(self._text.up(end - self._sizes.window // 2), end)
            self._urgent.append(_Again(half, set(near), part=False))

    def _keep_pace(self, now: float) -> None:
        """Merges what is left if it cannot be read in time as it is, and could be so (SCAN-9)."""
        parallel, each_s = self._pace.parallel, self._pace.each_s
        left_s = self._deadline - now
        left = self._plan.left + sum(piece.kind == "planned" for piece in self._out)
        if not self._pace.changed or not each_s or left * each_s <= left_s * parallel:
            return
        self._pace.changed = False
        bounds = [self.rules[i].timeout_s for i in range(len(self.rules)) if self.needs(i)]
        bound = min((b for b in bounds if b is not None), default=float("inf"))

        def fits(windows: int, size: int) -> bool:
            of_each = self._speed.seconds_for(size)
            if of_each is None or of_each > min(bound, left_s):
                return False
            return windows * of_each <= left_s * parallel

        self._plan.merge(fits)


@dataclass(slots=True)
class _Pace:
    """How fast a scan goes: ``each_s`` a window, by its last answers; ``parallel``: the most that
    were out at once; ``changed``: since it was last looked at."""

    each_s: float = 0.0
    parallel: int = 1
    changed: bool = False

    def answered(self, seconds: float | None) -> None:
        if seconds is not None:
            share = 0.5 if self.each_s else 1.0
            self.each_s += share * (seconds - self.each_s)
            self.changed = True
