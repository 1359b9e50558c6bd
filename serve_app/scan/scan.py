"""One long input read in windows, as a state machine: it gives windows and takes answers. Time and
chance are given (SCAN-1 to SCAN-9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from models.questions.types import Answer, AnswerError, ErrorAnswer, Question, Span, SpanAnswer
from serve_app.config.sizes import Sizes
from serve_app.outcome import Coverage
from serve_app.reading import Reading, reading_of
from serve_app.scan.coverage import Found
from serve_app.scan.pace import IN_TIME, Pace
from serve_app.scan.plan import WindowPlan
from serve_app.scan.rereads import AT_ONCE, Rereads
from serve_app.scan.rule import ScannedRule
from serve_app.scan.spans import joined, moved
from serve_app.scan.speed import Speed
from serve_app.scan.text import Text
from serve_app.scan.windows import Window, pieces

_LATE: Final = ErrorAnswer(AnswerError.DEADLINE_EXCEEDED)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A window to be asked ``questions`` about. ``kind``: as planned, or read again."""

    window: Window
    text: str
    questions: Mapping[str, Question]
    rules: tuple[int, ...]
    kind: Literal["planned", "reread"] = "planned"


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
    far. ``deadline``: seconds of the clock that ``next`` is told. ``parallel``: how many windows
    may be out at once."""

    def __init__(
        self,
        text: str,
        sizes: Sizes,
        rules: Sequence[ScannedRule],
        *,
        point: float,
        speed: Speed,
        deadline: float,
        parallel: int = 1,
    ) -> None:
        self.rules = tuple(rules)
        self._text = Text(text)
        self._sizes = sizes
        self._plan = WindowPlan(self._text, sizes, point)
        self._speed = speed
        self._deadline = deadline
        self._seen = [_Seen() for _ in self.rules]
        self._again = Rereads(len(self.rules), sizes.window)
        self._out: dict[Piece, float] = {}
        """What is out, since when."""
        self._pace = Pace(parallel=parallel)
        self._stopped = False

    @property
    def waiting(self) -> bool:
        """Whether a window is left that some rule needs and that may be sent now."""
        if self._stopped or not any(map(self.needs, range(len(self.rules)))):
            return False
        if self._plan.left or self._again.soon:
            return True
        if any(piece.kind == "planned" for piece in self._out):
            return False  # what is still to come may be nearer to its threshold
        return self._again.later

    @property
    def urgent(self) -> bool:
        """Whether what comes next goes before other scans' windows: the tail, and what is read
        again at once."""
        return not self._plan.taken or self._again.soon

    @property
    def progress(self) -> float:
        """Share of the windows that may be read which is out or read."""
        return self._plan.taken / max(1, self._plan.taken + self._plan.left)

    def next(self, now: float) -> Piece | None:
        """The window to be sent now, ``None`` if there is none that a rule needs."""
        if not self.waiting:
            return None
        again = self._again.take(soon=True)
        if again is not None:
            return self._sent(*again, "reread", now)
        self._keep_pace(now)
        window = self._plan.take()
        if window is not None:
            rules = tuple(filter(self.needs, range(len(self.rules))))
            return self._sent(window, rules, "planned", now)
        again = self._again.take(soon=False)
        return None if again is None else self._sent(*again, "reread", now)

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
        del self._out[piece]
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
        if good and seconds is not None:
            self._speed.measured(piece.window.size, seconds)
            if piece.kind == "planned":
                self._pace.answered(seconds)
        if piece.kind == "planned" and near:
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
        return Found(
            values=seen.values,
            coverage=Coverage(seen.read, self._plan.planned, seen.early),
            decided=seen.decided,
            diluted=self._again.diluted(index),
            error=seen.error or self._unsent() or self._again.error(index) or _LATE.error,
            unreadable=seen.unreadable,
            spans=joined(seen.spans, self._text.text),
        )

    def _unsent(self) -> AnswerError | None:
        """Why windows were never sent, if not for want of time."""
        capped = self._plan.planned > self._plan.taken and not self._plan.left and not self._out
        return AnswerError.MAX_LENGTH_EXCEEDED if capped else None

    def _sent(
        self,
        window: Window,
        rules: tuple[int, ...],
        kind: Literal["planned", "reread"],
        now: float,
    ) -> Piece:
        questions = {self.rules[i].id: self.rules[i].question for i in rules}
        text = self._text.between(window.start, window.end)
        piece = Piece(window, text, questions, rules, kind)
        self._out[piece] = now
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
        self._again.read(index, piece.window)
        if not seen.decided and rule.decided(seen.values):
            seen.decided = True
            seen.early = seen.read < self._plan.planned
            self._again.decided(index)
        return float("inf") if seen.decided else rule.gap(values, seen.values)

    def _failed(self, index: int, piece: Piece, error: AnswerError) -> None:
        if piece.kind == "reread":
            self._again.failed(index, error)
            return
        seen = self._seen[index]
        seen.error = seen.error or error
        seen.unreadable = seen.unreadable or error is AnswerError.INVALID_INPUT

    def _read_again(self, window: Window, near: Mapping[int, float]) -> None:
        """Plans what of a planned window is read again for rules it came ``near`` (SCAN-7, -8)."""
        sizes = self._sizes
        if window.size > sizes.window:
            parts = pieces(self._text, window, sizes.window, sizes.overlap)
            self._again.plan_parts(parts, near, sizes.reread_margin * AT_ONCE)
        elif window == self._plan.tail:
            half = Window(self._text.up(max(0, window.end - sizes.window // 2)), window.end)
            if half.start > window.start:  # an input of half a window was read as it is
                self._again.plan_half(half, near)

    def _keep_pace(self, now: float) -> None:
        """Merges what is left if it cannot be read in time as it is, and could be so (SCAN-9)."""
        pace, left_s = self._pace, self._deadline - now + IN_TIME
        out_s = [pace.each_s - (now - since) for since in self._out.values()]
        if not pace.changed or pace.done_in(self._plan.left, pace.each_s, out_s) <= left_s:
            return
        pace.changed = False
        bound = min(self._bounds(), default=float("inf"))
        out_s = [
            (self._speed.seconds_for(piece.window.size) or pace.each_s) - (now - since)
            for piece, since in self._out.items()
        ]

        def fits(windows: int, size: int) -> bool:
            each_s = self._speed.seconds_for(size)
            if each_s is None or each_s > bound:
                return False
            return pace.done_in(windows, each_s, out_s) <= left_s

        self._plan.merge(fits)

    def _bounds(self) -> list[float]:
        """How long a window may take, for each rule that needs more. One that is late with windows
        of the size so far reads as little whatever is merged, and bounds none."""
        bounds = [rule.timeout_s for i, rule in enumerate(self.rules) if self.needs(i)]
        return [bound for bound in bounds if bound is not None and bound >= self._pace.each_s]
