"""Typed questions over HTTP, with the client that users have (S1-6 to S1-12)."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import typesafe_sdk
from typesafe_sdk import AsyncTypeSafeClient, Choice, Noul, Score

from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer
from models.scheduling.messages import ModelReply, Refusal
from tests.serve_app.deployments.api.conftest import Router

NOUL = {"type": "noul", "instructions": "Is it urgent?"}


def body(**more: Any) -> dict[str, Any]:
    return {"model": "jev-latest", "state": "x", "questions": {"urgent": NOUL}, **more}


async def ask(router: Router, given: dict[str, Any], **headers: str) -> httpx.Response:
    return await router.client.post("/v1/systemone", json=given, headers=headers)


async def test_the_official_client_with_its_default_compression(router: Router) -> None:
    """S1-7: bodies of 1 KB and more come as zstd"""
    async with AsyncTypeSafeClient(api_key="anything", base_url=router.url) as client:
        result = await client.system_one(
            "The parcel is late again. " * 80,
            {
                "urgent": Noul(instructions="Is it urgent?"),
                "team": Choice(instructions="Who?", criteria={"post": "Parcels", "it": None}),
                "anger": Score(instructions="How angry?", criteria=["calm", "cross", "furious"]),
            },
            model="jev-latest",
        )
    ((_, call),) = router.services.asked
    assert len(call.rows[0].state) > 2000
    assert [question.type for question in call.rows[0].questions] == ["noul", "choice", "score"]
    assert result.request_id.startswith("req_")
    assert set(result.answers) == {"urgent", "team", "anger"}
    assert result.model == "scripted-1.0"


async def test_the_official_client_lists_the_decision_models(router: Router) -> None:
    """S1-8"""
    async with AsyncTypeSafeClient(api_key="anything", base_url=router.url) as client:
        listed = await client.models.list()
    assert [m.name for m in listed.models] == [
        "scripted-1.0",
        "primary",
        "jev-latest",
        "jev-preview",
    ]
    assert {m.release_date for m in listed.models} == {"2026-01-02"}


async def test_the_official_client_reads_the_errors(router: Router) -> None:
    """S1-7, S1-9"""
    async with AsyncTypeSafeClient(api_key="anything", base_url=router.url) as client:
        with pytest.raises(typesafe_sdk.TypeSafeBadRequestError) as caught:
            await client.system_one("x", {"q": Noul(instructions="?")}, model="nobody")
    assert "no decision model nobody" in str(caught.value)


@pytest.mark.parametrize("name", ["scripted-1.0", "primary", "jev-latest", "jev-preview"])
async def test_every_name_resolves_to_the_same_model(router: Router, name: str) -> None:
    """S1-8"""
    answer = await ask(router, body(model=name))
    assert answer.json()["model"] == "scripted-1.0"
    assert answer.headers["x-vsr-selected-model"] == "scripted-1.0"
    assert answer.headers["x-vsr-response-path"] == "systemone"
    assert [deployment for deployment, _ in router.services.asked] == ["primary"]


async def test_a_batch_is_one_call_with_a_row_per_entry(router: Router) -> None:
    """S1-10, SRV-2"""
    entry = {"state": {"request": "one two"}, "questions": {"urgent": NOUL}}
    given = {"model": "jev-latest", "states": {"1": entry, "b": {**entry, "state": "three"}}}
    answer = (await ask(router, given)).json()
    ((_, call),) = router.services.asked
    assert [row.state for row in call.rows] == ["one two", "three"]
    assert set(answer["states"]) == {"1", "b"}
    assert answer["usage"] == {"input_tokens": 3, "output_tokens": 0}


async def test_a_bad_question_among_good_ones_is_answered_in_its_place(router: Router) -> None:
    """S1-12"""
    answer = await ask(router, body(questions={"bad": {"type": "choice"}, "good": NOUL}))
    assert answer.status_code == 200
    assert answer.json()["answers"]["bad"]["error"] == "invalid_question"
    assert answer.json()["answers"]["good"]["type"] == "noul"
    ((_, call),) = router.services.asked
    assert len(call.rows[0].questions) == 1


async def test_an_answer_that_the_model_lacks_says_so_in_its_place(router: Router) -> None:
    """S1-12"""
    answers = ((ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED), NoulAnswer(0.5)),)
    router.services.reply_with = ModelReply(answers, (9,), 0, 0, 0)
    answer = await ask(router, body(questions={"a": NOUL, "b": NOUL}))
    assert answer.json()["answers"]["a"]["error"] == "max_length_exceeded"
    assert answer.json()["answers"]["b"] == {"type": "noul", "noul": 0.5}


async def test_overload_is_529_and_says_when_to_ask_again(router: Router) -> None:
    """S1-9, API-11"""
    router.services.reply_with = Refusal(AnswerError.OVERLOADED, predicted_wait_s=1.25)
    answer = await ask(router, body())
    assert answer.status_code == 529
    assert answer.json()["detail"]["error_type"] == "overloaded_error"
    assert answer.headers["retry-after"] == "2"
    assert answer.headers["retry-after-ms"] == "1250"
    assert answer.headers["x-vsr-response-path"] == "overloaded"
    assert answer.headers["x-typesafe-request-id"].startswith("req_")


async def test_a_model_that_is_loading_is_503(router: Router) -> None:
    """S1-9"""
    router.services.reply_with = Refusal(AnswerError.NOT_READY)
    answer = await ask(router, body())
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("given", "headers", "seconds"),
    [
        ({}, {}, 30),
        ({"options": {"deadline_ms": 1500}}, {}, 1.5),
        ({}, {"x-vsr-timeout-seconds": "2"}, 2),
        ({"options": {"deadline_ms": 1500}}, {"x-vsr-timeout-seconds": "9"}, 1.5),
        ({"options": {"deadline_ms": 9000}}, {"x-vsr-timeout-seconds": "2"}, 2),
    ],
)
async def test_the_nearest_deadline_travels_with_the_call(
    router: Router, given: Any, headers: Any, seconds: float
) -> None:
    """BUD-3, SRV-9"""
    await ask(router, body(**given), **headers)
    ((_, call),) = router.services.asked
    assert call.remaining_s is not None
    assert seconds - 1 < call.remaining_s <= seconds


async def test_a_late_answer_is_deadline_exceeded_in_every_place(router: Router) -> None:
    """BUD-1, S1-12; the wait is cancelled (SRV-9)"""
    router.services.hold = asyncio.Event()
    answer = await ask(router, body(options={"deadline_ms": 30}))
    assert answer.status_code == 200
    assert answer.json()["answers"]["urgent"]["error"] == "deadline_exceeded"
    assert answer.json()["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert router.services.cancelled.is_set()


async def test_times_are_given_back_to_who_asks_for_them(router: Router) -> None:
    """S1-10 ``return_meta``; API-8"""
    plain = await ask(router, body())
    asked = await ask(router, body(options={"return_meta": True}))
    assert set(plain.json()) == {"model", "answers", "usage"}
    assert asked.json()["x_meta"]["forward_ms"] == 1.5
    assert (
        asked.headers["server-timing"] == "queue;dur=0.250, tokenize;dur=0.500, forward;dur=1.500"
    )
