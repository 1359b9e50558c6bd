"""A remote deployment's ``Ask``, kept answers and all: CACHE-2, CACHE-3, MRG-4, UNK-1."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from models.questions.types import (
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    SetAnswer,
)
from serve_app.asking.call import Call, Entry
from serve_app.asking.remote.cache import KEPT_S, RemoteCache
from serve_app.asking.remote.exchange import RemoteAnswer
from serve_app.asking.remote.model import RemoteModel
from serve_app.asking.stage import answered
from tests.doubles.scripted_api import ScriptedApi

A = Question(QuestionType.NOUL, "Is it a?")
B = Question(QuestionType.NOUL, "Is it b?")
YES = NoulAnswer(0.25)


def model(api: ScriptedApi) -> tuple[RemoteModel, RemoteCache]:
    cache = RemoteCache(api.clock)
    return RemoteModel("m", api, cache, api.clock), cache


def call(**entries: dict[str, Question]) -> Call:
    """Entry ``_1`` has the state ``"state 1"``."""
    return Call("api", {n[1:]: Entry(f"state {n[1:]}", q) for n, q in entries.items()})


def refused(question: str, entry: str) -> RemoteAnswer:
    return RemoteAnswer(422, {"error": {"state": entry, "question": question}})


async def test_what_is_kept_is_not_sent_again():
    """CACHE-2"""
    api = ScriptedApi()
    remote, _ = model(api)
    first = await remote.ask(call(_1={"a": A, "b": B}))
    again = await remote.ask(call(_1={"x": B, "y": A}))
    assert first.attempts == len(api.bodies) == 1
    assert again.attempts == sum(again.tokens.values()) == 0
    assert again.answers == {"1": {"x": YES, "y": YES}}
    api.clock.now += KEPT_S
    assert (await remote.ask(call(_1={"a": A}))).attempts == 1


async def test_a_call_keeps_its_form_and_names_without_what_is_kept():
    """CACHE-2, MRG-4"""
    api = ScriptedApi()
    remote, _ = model(api)
    await remote.ask(call(_1={"a": A, "b": B}))
    reply = await remote.ask(call(_1={"a": A, "b": B}, _2={"a": A}))
    assert api.asked[1] == {"2": ["a"]}
    assert reply.answers == {"1": {"a": YES, "b": YES}, "2": {"a": YES}}
    await remote.ask(call(_2={"a": A, "b": B}))
    assert api.asked[2] == {"": ["b"]}


async def test_answers_come_in_the_order_of_the_call():
    api = ScriptedApi()
    remote, _ = model(api)
    await remote.ask(call(_1={"b": B}))
    reply = await remote.ask(call(_1={"a": A, "b": B}, _2={"b": B, "a": A}))
    assert [(name, list(by_id)) for name, by_id in reply.answers.items()] == [
        ("1", ["a", "b"]),
        ("2", ["b", "a"]),
    ]


async def test_only_answers_are_kept():
    """CACHE-3: of a partly failed call what it did answer."""
    api = ScriptedApi([refused("a", "2")])
    remote, cache = model(api)
    wanted = call(_1={"a": A}, _2={"a": A, "b": B})
    reply = await remote.ask(wanted)
    failed = ErrorAnswer(AnswerError.INVALID_QUESTION)
    assert reply.answers == {"1": {"a": YES}, "2": {"a": failed, "b": YES}}
    assert len(cache) == 2
    assert (await remote.ask(wanted)).answers["2"]["a"] == YES
    assert api.asked[-1] == {"2": ["a"]}


async def test_malformed_answers_are_not_kept():
    """CACHE-3, UNK-1"""
    api = ScriptedApi([RemoteAnswer(200, {"answers": {"a": {"type": "noul", "noul": 2}}})])
    remote, cache = model(api)
    reply = await remote.ask(call(_1={"a": A}))
    assert reply.answers["1"]["a"] == ErrorAnswer(AnswerError.INVALID_MODEL_OUTPUT)
    assert len(cache) == 0


async def test_kept_answers_outlive_a_failure_of_the_rest():
    """CACHE-2, MRG-5: what a failure drops everywhere was not asked where it is kept."""
    api = ScriptedApi()
    remote, _ = model(api)
    await remote.ask(call(_1={"a": A}))
    api.moves = [refused("a", "2"), refused("a", "3")]
    reply = await remote.ask(call(_1={"a": A}, _2={"a": A}, _3={"a": A, "b": B}, _4={"a": A}))
    failed = ErrorAnswer(AnswerError.INVALID_QUESTION)
    assert reply.attempts == 3
    assert reply.answers == {
        "1": {"a": YES},
        "2": {"a": failed},
        "3": {"a": failed, "b": YES},
        "4": {"a": failed},
    }


async def test_the_wait_is_the_calls_and_refusals_say_when_to_ask_again():
    """BUD-3, MRG-7"""
    api = ScriptedApi([RemoteAnswer(529, None, 2.0)], takes_s=0.25)
    remote, _ = model(api)
    reply = await remote.ask(replace(call(_1={"a": A}), timeout_s=1.0))
    assert reply.answers["1"]["a"] == ErrorAnswer(AnswerError.OVERLOADED)
    assert reply.retry_after_s == 2.0
    assert reply.elapsed_ms == pytest.approx(250)


async def test_answers_of_every_type_pass_a_stages_own_validation():
    """UNK-1: this project's own server, asked by itself; then all from what is kept."""
    options = (Option("x", "one"), Option("y"))
    asked = {
        kind.value: Question(kind, "What?", options if kind is not QuestionType.NOUL else ())
        for kind in QuestionType
        if kind is not QuestionType.SCORE
    }
    levels = (Option("0", "low"), Option("1", "mid"), Option("2", "high"))
    asked["score"] = Question(QuestionType.SCORE, "How?", levels)
    api = ScriptedApi(answers={"span": {"x": 0.8}, "set": {"x": 0.75}})
    remote, _ = model(api)
    wanted = Call("api", {n: Entry("x y", asked) for n in ("1",)}, timeout_s=5.0)
    for attempts in (1, 0):
        (reply,) = await answered([wanted], remote.ask, api.clock)
        assert reply.attempts == attempts
        assert not any(isinstance(one, ErrorAnswer) for one in reply.answers["1"].values())


async def test_a_caller_that_gives_up_cancels_the_send():
    """SRV-9"""
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def hanging(body: object, wait_s: float | None, fresh: bool) -> RemoteAnswer:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    api = ScriptedApi()
    remote = RemoteModel("m", hanging, RemoteCache(api.clock), api.clock)
    asking = asyncio.create_task(remote.ask(call(_1={"a": A})))
    await entered.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert cancelled.is_set()


async def test_a_set_whose_labels_collide_with_ids_is_not_asked_whatever_is_kept():
    """S1-12: whose answer would ``a.x`` be?"""
    labels = Question(QuestionType.SET, "Which?", (Option("x"), Option("y")))
    api = ScriptedApi()
    remote, _ = model(api)
    for attempts in (1, 0):
        reply = await remote.ask(call(_1={"a": labels, "a.x": A}, _2={"a": labels}))
        assert reply.answers["1"]["a"] == ErrorAnswer(AnswerError.INVALID_QUESTION)
        assert reply.answers["1"]["a.x"] == YES
        assert isinstance(reply.answers["2"]["a"], SetAnswer)
        assert reply.attempts == attempts
    assert api.asked == [{"1": ["a.x"], "2": ["a"]}]


async def test_a_choice_of_one_option_is_answered_without_being_asked():
    """LIM-1: an API may refuse it"""
    one = Question(QuestionType.CHOICE, "Which?", (Option("only"),))
    api = ScriptedApi()
    remote, _ = model(api)
    reply = await remote.ask(call(_1={"one": one, "a": A}))
    assert reply.answers["1"] == {"one": ChoiceAnswer(("only",), (1.0,)), "a": YES}
    assert api.asked == [{"": ["a"]}]
    alone = await remote.ask(call(_1={"one": one}))
    assert (alone.attempts, alone.answers["1"]["one"]) == (0, ChoiceAnswer(("only",), (1.0,)))
