"""The bare engine is timed call by call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from benchmarks.harness.calls import Call, Calls
from benchmarks.harness.prompts import Prompts
from benchmarks.servers.bare import WARM_UP, each, measure, timed
from models.engine import Row
from models.questions.types import Answer, AnswerError, ErrorAnswer, Question, QuestionType
from tests.doubles.engines import CountedRow, GatedEngine

QUESTION = Question(QuestionType.NOUL, "Is it?")


def test_every_call_after_the_warm_up_has_a_time() -> None:
    seen: list[int] = []
    result = timed(seen.append, count(), 0.01)
    assert seen == list(range(result.sent))
    assert len(result.latencies_ms) == result.sent - WARM_UP > 0
    assert sum(result.latencies_ms) / 1e3 <= result.seconds


def test_answers_and_encoder_read_the_jobs_prompts_in_turn() -> None:
    for what in ("answer", "encoder"):
        engine = GatedEngine()
        engine.gate.release(1_000_000)
        job = {"what": what, "seed": 4, "first": 10, "seconds": 1e-9}
        result = measure(engine, (QUESTION,), job)
        assert result.sent == WARM_UP + 1 == len(engine.read)
        assert engine.read[:2] == [[Prompts(4)[10]], [Prompts(4)[11]]]


class WordEngine(GatedEngine):
    """A token for every word; a score has no answer."""

    def prepare(self, row: Row) -> CountedRow:
        return CountedWords(row)

    def forward(self, rows: Sequence[CountedRow]) -> list[tuple[Answer, ...]]:
        given = super().forward(rows)
        return [
            tuple(
                ErrorAnswer(AnswerError.INVALID_QUESTION) if q.type is QuestionType.SCORE else a
                for q, a in zip(row.row.questions, answers, strict=True)
            )
            for row, answers in zip(rows, given, strict=True)
        ]


class CountedWords(CountedRow):
    @property
    def tokens(self) -> int:
        return len(self.row.state.split())


def test_given_calls_are_answered_in_turn_each_with_its_questions() -> None:
    engine, contents = WordEngine(), Calls(4)
    engine.gate.release(2)
    calls = [Call(3, 30, (0,)), Call(4, 12, (3, 1))]
    result = each(engine, contents, calls)
    assert engine.read == [[contents.state(call)] for call in calls]
    assert (len(result.latencies_ms), result.sent, result.failed) == (2, 2, 0)
    assert result.seconds == sum(result.latencies_ms) / 1e3 > 0


def test_a_question_without_an_answer_or_a_state_of_other_length_fails_the_call() -> None:
    engine = WordEngine()
    engine.gate.release(3)
    score = next(n for n in range(9) if Calls(4).question(n)["type"] == "score")
    assert each(engine, Calls(4), [Call(3, 30, (0, score))]).failed == 1
    engine.prepare = CountedRow  # type: ignore[method-assign]
    assert each(engine, Calls(4), [Call(3, 30, (0,)), Call(4, 30, (0,))]).failed == 2
