"""Typed questions to a remote deployment: another router, asked over HTTP (CFG-3, S1-10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer
from models.scheduling.messages import ModelReply, Refusal
from tests.serve_app.deployments.api.conftest import Router, Start, document

QUESTIONS: dict[str, Any] = {
    "urgent": {"type": "noul", "instructions": "Is it urgent?"},
    "team": {"type": "choice", "criteria": {"post": "Parcels", "it": None}},
    "mood": {"type": "score", "criteria": ["calm", "cross", "furious"]},
    "topics": {"type": "set", "labels": ["late", "broken"]},
    "names": {"type": "span", "labels": ["PERSON"]},
}


@dataclass
class Chained:
    """``near`` has the remote deployment ``far``, which ``far`` serves as ``primary``."""

    near: Router
    far: Router

    async def ask(self, body: dict[str, Any], **headers: str) -> httpx.Response:
        return await self.near.client.post("/v1/systemone", json=body, headers=headers)


@pytest.fixture
async def chained(start: Start) -> AsyncIterator[Chained]:
    async with start(document()) as far:
        known = document()
        far_spec = {
            "provider": "systemone",
            "endpoint": f"{far.url}/v1/systemone",
            "model": "primary",
        }
        known["global"]["model_catalog"] = {
            "system": {"decision_model": {"deployment": "far"}},
            "deployments": {"far": far_spec},
        }
        async with start(known) as near:
            yield Chained(near, far)


def rounded(value: Any) -> Any:
    """Distributions are scaled to a sum of 1 once more, which moves their last digits."""
    if isinstance(value, dict):
        return {key: rounded(member) for key, member in value.items()}
    return round(value, 9) if isinstance(value, float) else value


def body(**more: Any) -> dict[str, Any]:
    return {"model": "far", "state": {"text": "late again"}, "questions": QUESTIONS, **more}


async def test_a_remote_answers_as_if_it_were_here(chained: Chained) -> None:
    """S1-11"""
    there = await chained.far.client.post("/v1/systemone", json=body(model="primary"))
    here = await chained.ask(body())
    assert here.status_code == 200
    assert rounded(here.json()) == {**rounded(there.json()), "model": "far"}


async def test_the_state_travels_as_it_was_given(chained: Chained) -> None:
    """S1-10"""
    await chained.ask(body())
    ((_, call),) = chained.far.services.asked
    assert call.rows[0].state == (await rendered_here(chained))


async def rendered_here(chained: Chained) -> str:
    await chained.far.client.post("/v1/systemone", json=body(model="primary"))
    return str(chained.far.services.asked[-1][1].rows[0].state)


async def test_a_batch_goes_there_in_one_call_and_comes_back_by_name(
    chained: Chained,
) -> None:
    """S1-10"""
    entry = {"state": "one", "questions": QUESTIONS}
    states = {"a": entry, "b": {**entry, "state": "two"}}
    answer = await chained.ask({"model": "far", "states": states})
    assert answer.status_code == 200
    assert list(answer.json()["states"]) == ["a", "b"]
    ((_, call),) = chained.far.services.asked
    assert [row.state for row in call.rows] == ["one", "two"]


async def test_each_entry_of_a_batch_has_the_tokens_that_the_api_counted(chained: Chained) -> None:
    """S1-10, S1-11"""
    words = {"a": "one", "b": "one two three", "c": "one two"}
    states = {name: {"state": state, "questions": QUESTIONS} for name, state in words.items()}
    answer = (await chained.ask({"model": "far", "states": states})).json()
    counted = {name: part["usage"]["input_tokens"] for name, part in answer["states"].items()}
    assert counted == {"a": 1, "b": 3, "c": 2}
    assert answer["usage"]["input_tokens"] == 6


async def test_states_that_differ_beyond_64_bits_are_two_states(chained: Chained) -> None:
    """S1-1, CACHE-2"""
    for account in (10**20 + 1, 10**20 + 2):
        answer = await chained.ask(body(state={"account": account}))
        assert answer.status_code == 200
    asked = [call.rows[0].state for _, call in chained.far.services.asked]
    assert [str(10**20 + n) in state for n, state in enumerate(asked, 1)] == [True, True]


async def test_a_model_that_takes_none_of_the_questions_is_told_as_such(chained: Chained) -> None:
    """S1-12"""
    invalid = ErrorAnswer(AnswerError.INVALID_QUESTION)
    answers = ((invalid,) * len(QUESTIONS),)
    chained.far.services.reply_with = ModelReply(answers, (3,), 0, 0, 0)
    refused = await chained.ask(body())
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "questions"]


async def test_overload_is_told_whatever_answers_were_kept(chained: Chained) -> None:
    """S1-9, CACHE-3"""
    await chained.ask(body(questions={"urgent": QUESTIONS["urgent"]}))
    chained.far.services.reply_with = Refusal(AnswerError.OVERLOADED, 0.5)
    assert (await chained.ask(body())).status_code == 529
    kept = await chained.ask(body(questions={"urgent": QUESTIONS["urgent"]}))
    assert kept.status_code == 200


async def test_a_remote_answer_claims_no_times_of_a_queue(chained: Chained) -> None:
    """API-8"""
    answer = await chained.ask(body(options={"return_meta": True}))
    assert "x_meta" not in answer.json()
    assert "queue" not in answer.headers.get("server-timing", "")


async def test_a_bad_question_is_answered_here_and_does_not_travel(chained: Chained) -> None:
    """S1-12"""
    questions = {"bad": {"type": "choice", "criteria": []}, **QUESTIONS}
    answer = await chained.ask(body(questions=questions))
    assert answer.json()["answers"]["bad"]["error"] == "invalid_question"
    ((_, call),) = chained.far.services.asked
    assert len(call.rows[0].questions) == len(QUESTIONS)


async def test_an_answer_that_is_an_error_there_stands_in_its_place_here(
    chained: Chained,
) -> None:
    """MRG-3"""
    one = {"urgent": QUESTIONS["urgent"], "calm": {"type": "noul", "instructions": "Calm?"}}
    answers = ((ErrorAnswer(AnswerError.INVALID_INPUT), NoulAnswer(0.25)),)
    chained.far.services.reply_with = ModelReply(answers, (3,), 0, 0, 0)
    found = (await chained.ask(body(questions=one))).json()["answers"]
    assert found["urgent"]["error"] == "invalid_input"
    assert found["calm"]["noul"] == 0.25


async def test_overload_there_is_overload_here_with_its_time(chained: Chained) -> None:
    """S1-9"""
    chained.far.services.reply_with = Refusal(AnswerError.OVERLOADED, 2.5)
    refused = await chained.ask(body())
    assert refused.status_code == 529
    assert refused.headers["retry-after-ms"] == "2500"
    assert refused.json()["detail"]["error_type"] == "overloaded_error"


async def test_a_model_that_loads_there_is_not_ready_here(chained: Chained) -> None:
    """S1-9"""
    chained.far.services.reply_with = Refusal(AnswerError.NOT_READY)
    assert (await chained.ask(body())).status_code == 503


async def test_the_time_left_travels_there(chained: Chained) -> None:
    """SRV-9"""
    await chained.ask(body(options={"deadline_ms": 700}))
    ((_, call),) = chained.far.services.asked
    assert call.remaining_s is not None
    assert 0 < call.remaining_s <= 0.7


async def test_equal_questions_are_asked_once_and_the_kept_answer_serves(
    chained: Chained,
) -> None:
    """CACHE-2"""
    first, second = await chained.ask(body()), await chained.ask(body())
    assert len(chained.far.services.asked) == 1
    assert second.json()["answers"] == first.json()["answers"]
    await chained.ask(body(state="something else"))
    assert len(chained.far.services.asked) == 2


async def test_a_remote_that_is_gone_leaves_every_question_without_an_answer(
    start: Start,
) -> None:
    """UNK-1"""
    known = document()
    gone = {"provider": "systemone", "endpoint": "http://127.0.0.1:9/v1/systemone", "model": "m"}
    known["global"]["model_catalog"] = {
        "system": {"decision_model": {"deployment": "far"}},
        "deployments": {"far": gone},
    }
    async with start(known) as near:
        answer = await near.client.post("/v1/systemone", json=body())
    assert answer.status_code == 200
    assert {a["error"] for a in answer.json()["answers"].values()} == {"unavailable"}
