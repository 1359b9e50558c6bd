"""Every front gives the engine's own answers."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import orjson
import pytest
from fastapi import Response

from benchmarks.servers import lit, plain_fastapi
from benchmarks.servers.edge import answer_calls
from benchmarks.servers.engines import EngineName
from benchmarks.servers.fixed_engine import ROWS, FixedEngine
from benchmarks.servers.profile import SHIPPED
from models.engine import PreparedRow, Row, answer
from models.questions.parse import parse_question
from models.questions.standard import parse_body
from models.questions.types import Answer, ChoiceAnswer, NoulAnswer, QuestionType
from models.scheduling.settings import Budget
from tests.doubles.engines import CountedRow, FixedTimeEngine

QUESTIONS = {
    "subject": {"type": "choice", "criteria": {"math": "Numbers", "law": None, "other": None}},
    "attack": {"type": "noul", "instructions": "Is it an attack?"},
}
BODY = {"model": "jev-latest", "state": "hello", "questions": QUESTIONS}


class InstantEngine(FixedEngine):
    """The fixed engine without its wait, and with rows of several lengths."""

    def __init__(self) -> None:
        FixedTimeEngine.__init__(self, seconds=0, max_rows=ROWS)
        self.forwards: list[set[int]] = []

    def prepare(self, row: Row) -> CountedRow:  # type: ignore[override]
        return CountedRow(row)

    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        self.forwards.append({row.bucket for row in rows})
        return super().forward(rows)


def bare(state: str) -> tuple[Answer, ...]:
    questions = tuple(parse_question(q, client=True) for q in QUESTIONS.values())
    return answer(InstantEngine(), [Row(state, questions)])[0]


def check(content: bytes | memoryview) -> None:
    subject, attack = bare("hello")
    assert isinstance(subject, ChoiceAnswer)
    assert isinstance(attack, NoulAnswer)
    answers = orjson.loads(content)["answers"]
    assert answers["attack"]["noul"] == attack.probability
    assert tuple(answers["subject"]["probabilities"].values()) == subject.probabilities


async def test_plain_fastapi_answers_as_the_bare_engine() -> None:
    transport = httpx.ASGITransport(plain_fastapi.build(InstantEngine()))
    async with httpx.AsyncClient(transport=transport, base_url="http://front") as client:
        response = await client.post("/v1/systemone", json=BODY)
        assert (await client.get("/health")).status_code == 200
    assert response.status_code == 200
    check(response.content)


def test_litserve_answers_as_the_bare_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lit, "load_engine", lambda name, profile: InstantEngine())
    api = lit.SystemOne(EngineName.FIXED, SHIPPED, batch=4, timeout_s=0.0)
    api.setup("cpu")
    calls = [api.decode_request(BODY), api.decode_request({**BODY, "state": "another"})]
    first, second = map(api.encode_response, api.predict(calls))
    assert isinstance(first, Response)
    check(first.body)
    assert orjson.loads(second.body)["answers"] != orjson.loads(first.body)["answers"]


def test_calls_answered_together_share_a_forward_for_each_length() -> None:
    engine = InstantEngine()
    states = ["a", "b", "c" * 400, "d"]
    calls = [parse_body({**BODY, "state": state}) for state in states]
    results = answer_calls(engine, calls)
    assert sorted(map(len, engine.forwards)) == [1, 1]
    assert [result.answers for result in results] == [(bare(state),) for state in states]
    assert [result.tokens for result in results] == [(1,), (1,), (101,), (1,)]


def test_the_shipped_token_budget_holds_sixteen_rows_of_the_fixed_engine() -> None:
    rows = [FixedEngine().prepare(Row("x" * size, ())) for size in (1, 200, 5000)]
    assert len({row.bucket for row in rows}) == 1
    assert Budget().tokens // rows[0].cost == ROWS


def test_the_fixed_engine_answers_a_choice_with_a_distribution() -> None:
    for answered in (bare(f"state {n}")[0] for n in range(50)):
        assert isinstance(answered, ChoiceAnswer)
        assert sum(answered.probabilities) == pytest.approx(1)
        assert min(answered.probabilities) >= 0
    assert FixedEngine.card.question_types == {QuestionType.NOUL, QuestionType.CHOICE}
