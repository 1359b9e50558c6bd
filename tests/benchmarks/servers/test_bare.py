"""The bare engine is timed call by call."""

from __future__ import annotations

from itertools import count

from benchmarks.harness.prompts import Prompts
from benchmarks.servers.bare import WARM_UP, measure, timed
from models.questions.types import Question, QuestionType
from tests.doubles.engines import GatedEngine

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
