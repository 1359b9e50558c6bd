"""The scheduler's laws under random traffic in virtual time.

SRV-6, SRV-8, SRV-10, BUD-2, BUD-4, CACHE-1, CACHE-3
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from models.engine import Row
from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer, Question, QuestionType
from models.scheduling.messages import ModelCall, Refusal
from models.scheduling.runner import UNREAD
from models.scheduling.scheduler import Scheduler
from models.scheduling.settings import Budget, Settings
from models.scheduling.work import Forward, Item, Phase, Ticket
from tests.doubles.engines import CountedRow, answers, probability

QUESTIONS = [Question(QuestionType.NOUL, f"question {i}") for i in range(4)]
STATES = [f"state {i} " + "x" * size for i in range(4) for size in (0, 150, 500, 3000)]

rows = st.builds(
    Row,
    st.sampled_from(STATES),
    st.lists(st.sampled_from(QUESTIONS), max_size=4).map(tuple),
)
calls = st.builds(
    ModelCall,
    st.lists(rows, max_size=6).map(tuple),
    st.none() | st.sampled_from([0.0, 0.05, 0.5, 5.0]),
)


@dataclass(eq=False)
class Caller:
    """A call as its caller sees it."""

    call: ModelCall
    ticket: Ticket
    replies: int = 0
    cancelled: bool = False
    deadline: float | None = None

    @property
    def open(self) -> bool:
        return not self.replies and not self.cancelled


class SchedulerMachine(RuleBasedStateMachine):
    @initialize(
        tokens=st.sampled_from([80, 256, 2048]),
        limit=st.sampled_from([1, 4, 256]),
        max_calls=st.sampled_from([2, 8, 256]),
        max_queue_s=st.sampled_from([0.05, 0.5, 10.0]),
        cached=st.sampled_from([0, 3, 4096]),
    )
    def start(
        self, tokens: int, limit: int, max_calls: int, max_queue_s: float, cached: int
    ) -> None:
        self.settings = Settings(Budget(tokens, limit), max_calls, max_queue_s, 2.0, cached)
        self.scheduler = Scheduler("revision", self.settings)
        self.now = 0.0
        self.callers: list[Caller] = []
        self.unread: list[Item] = []
        self.forward: Forward | None = None
        self.forwards = 0

    @rule(call=calls)
    def submit(self, call: ModelCall) -> None:
        idle = self.scheduler.waiting_rows == 0
        full = self.scheduler.calls >= self.settings.max_calls
        before = self.scheduler.calls
        taken = self.scheduler.submit(call, self.now)
        if isinstance(taken, Refusal):
            assert taken.error is AnswerError.OVERLOADED
            assert full or not idle, "a call was refused where nothing waited"
            assert taken.predicted_wait_s >= 0
            assert idle or taken.predicted_wait_s > 0
            assert self.scheduler.calls == before
            return
        deadline = None if call.remaining_s is None else self.now + call.remaining_s
        self.callers.append(Caller(call, taken, deadline=deadline))
        self.unread += taken.unread
        for item in taken.unread:
            assert item.phase is Phase.UNREAD
        self.collect()

    @precondition(lambda self: self.unread)
    @rule(data=st.data(), fails=st.integers(0, 9))
    def tokenize(self, data: st.DataObject, fails: int) -> None:
        item = self.unread.pop(data.draw(st.integers(0, len(self.unread) - 1)))
        if fails == 0:
            self.scheduler.unreadable(item, UNREAD, self.now)
        else:
            self.scheduler.prepared(item, CountedRow(item.row), 0.001)
        self.collect()

    @precondition(lambda self: self.unread)
    @rule()
    def tokenize_all(self) -> None:
        while self.unread:
            item = self.unread.pop(0)
            self.scheduler.prepared(item, CountedRow(item.row), 0.001)

    @rule()
    def form(self) -> None:
        forward = self.scheduler.next_forward(self.now)
        self.collect()
        if self.forward is not None:
            assert forward is None, "two forwards at once"
            return
        if forward is None:
            return
        self.forward = forward
        self.forwards += 1
        assert len({row.bucket for row in forward.rows}) == 1
        assert len(forward.rows) <= self.settings.budget.rows
        cost = sum(row.cost for row in forward.rows)
        assert cost == forward.tokens
        assert cost <= self.settings.budget.tokens or len(forward.rows) == 1
        wanted = {
            (row.state, question)
            for caller in self.callers
            if caller.open and (caller.deadline is None or caller.deadline > self.now)
            for row in caller.call.rows
            for question in row.questions
        }
        for prepared in forward.rows:
            asked = {(prepared.row.state, q) for q in prepared.row.questions}
            assert asked & wanted, "a row was computed for nobody"

    @precondition(lambda self: self.forward is not None)
    @rule(outcome=st.sampled_from(["good"] * 6 + ["raises", "short"]))
    def finish(self, outcome: str) -> None:
        assert self.forward is not None
        forward, self.forward = self.forward, None
        started = forward.formed
        if outcome == "raises":
            self.scheduler.failed(forward, started, self.now)
        else:
            computed = [answers(row.row) for row in forward.rows]
            if outcome == "short":
                computed = computed[:-1]
            self.scheduler.finished(forward, computed, started, self.now)
        self.collect()

    @precondition(lambda self: any(c.open for c in self.callers))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        caller = data.draw(st.sampled_from([c for c in self.callers if c.open]))
        caller.cancelled = True
        self.scheduler.cancel(caller.ticket)
        self.scheduler.cancel(caller.ticket)
        self.collect()

    @rule(seconds=st.sampled_from([0.001, 0.02, 0.1, 1.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def expire(self) -> None:
        self.scheduler.expire(self.now)
        self.collect()

    def collect(self) -> None:
        answered = self.scheduler.answered()
        by_ticket = {caller.ticket: caller for caller in self.callers}
        for ticket in answered:
            caller = by_ticket[ticket]
            assert not caller.cancelled, "a cancelled call was answered"
            caller.replies += 1
            assert caller.replies == 1, "answered twice"
            self.check(caller)

    def check(self, caller: Caller) -> None:
        reply = caller.ticket.reply
        assert reply is not None
        assert len(reply.answers) == len(reply.tokens) == len(caller.call.rows)
        assert min(reply.queue_ms, reply.tokenize_ms, reply.forward_ms) >= 0
        for row, row_answers, tokens in zip(
            caller.call.rows, reply.answers, reply.tokens, strict=True
        ):
            assert len(row_answers) == len(row.questions)
            for question, answer in zip(row.questions, row_answers, strict=True):
                if isinstance(answer, NoulAnswer):
                    assert answer.probability == probability(row.state, question)
                    assert tokens == CountedRow(row).tokens
                else:
                    assert isinstance(answer, ErrorAnswer)
                    if answer.error is AnswerError.DEADLINE_EXCEEDED:
                        assert caller.deadline is not None
                        assert caller.deadline <= self.now
                    else:
                        assert answer.error is AnswerError.UNAVAILABLE

    @invariant()
    def calls_count_until_they_are_answered(self) -> None:
        if hasattr(self, "callers"):
            assert self.scheduler.calls == sum(caller.open for caller in self.callers)
            assert self.scheduler.waiting_rows >= 0
            assert self.scheduler.queued_s(self.now) >= 0

    def teardown(self) -> None:
        """Whatever happened before: everything admitted is answered in the end."""
        if not hasattr(self, "callers"):
            return
        if self.forward is not None:
            self.finish("good")
        for _ in range(1000):
            self.tokenize_all()
            self.form()
            if self.forward is None:
                break
            self.now += 0.01
            self.finish("good")
        assert not any(caller.open for caller in self.callers)
        assert self.scheduler.calls == 0
        assert self.scheduler.waiting_rows == 0
        assert self.scheduler.next_deadline() is None
        assert self.scheduler.queued_s(self.now) == 0


SchedulerMachine.TestCase.settings = hypothesis_settings(
    max_examples=100, stateful_step_count=40, deadline=None
)
TestSchedulerLaws = SchedulerMachine.TestCase
