"""A scheduler driven by hand, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field

from models.engine import Row
from models.questions.types import Question, QuestionType
from models.scheduling.messages import ModelCall, Refusal
from models.scheduling.scheduler import Scheduler
from models.scheduling.settings import Settings
from models.scheduling.work import Forward, Ticket
from tests.doubles.engines import CountedRow, answers


@dataclass
class Bench:
    """``now`` moves by ``speed_s`` seconds per padded token of each forward."""

    settings: Settings = field(default_factory=Settings)
    speed_s: float = 0.001
    now: float = 0.0
    forwards: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scheduler = Scheduler("revision", self.settings)

    def ask(
        self, *states: str, questions: tuple[str, ...] = ("q",), remaining_s: float | None = None
    ) -> Ticket:
        taken = self.submit(*states, questions=questions, remaining_s=remaining_s)
        assert isinstance(taken, Ticket)
        for item in taken.unread:
            self.scheduler.prepared(item, CountedRow(item.row), 0.0)
        return taken

    def submit(
        self, *states: str, questions: tuple[str, ...] = ("q",), remaining_s: float | None = None
    ) -> Ticket | Refusal:
        asked = tuple(Question(QuestionType.NOUL, q) for q in questions)
        call = ModelCall(tuple(Row(state, asked) for state in states), remaining_s)
        return self.scheduler.submit(call, self.now)

    def start(self) -> Forward | None:
        forward = self.scheduler.next_forward(self.now)
        if forward is not None:
            self.forwards.append([row.row.state for row in forward.rows])
        return forward

    def finish(self, forward: Forward) -> None:
        started, self.now = self.now, self.now + forward.tokens * self.speed_s
        self.scheduler.finished(
            forward, [answers(row.row) for row in forward.rows], started, self.now
        )

    def step(self) -> bool:
        """Runs one forward; false if there is none."""
        forward = self.start()
        if forward is not None:
            self.finish(forward)
        return forward is not None

    def drain(self) -> None:
        while self.step():
            pass
