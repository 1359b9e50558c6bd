"""Asked again without what failed: MRG-4, MRG-5, MRG-6, BUD-1, BUD-3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import (
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    Question,
    QuestionType,
)
from serve_app.asking.call import Call, Entry, Reply
from serve_app.asking.remote.answers import MALFORMED
from serve_app.asking.remote.attempts import LAST_WORD_S, MOST_POSTS, ask_remote
from serve_app.asking.remote.exchange import RemoteAnswer, RemoteError
from tests.doubles.hand_clock import HandClock
from tests.doubles.scripted_api import ScriptedApi

NOUL = Question(QuestionType.NOUL, "Is it?")
YES = NoulAnswer(0.25)


def call(entries: Mapping[str, str], timeout_s: float | None = None) -> Call:
    """Entry name -> the ids it asks, a letter each."""
    asked = {
        name: Entry(f"state {name}", dict.fromkeys(ids, NOUL)) for name, ids in entries.items()
    }
    return Call("api", asked, timeout_s)


async def ask(
    api: ScriptedApi, call: Call, *, batch: bool | None = None, clock: HandClock | None = None
) -> Reply:
    batch = len(call.entries) > 1 if batch is None else batch
    return await ask_remote(call, "m", api, clock or api.clock, batch=batch)


def bad(
    question: str | None, entry: str | None = None, code: str | None = None, status: int = 422
) -> RemoteAnswer:
    error = {"state": entry, "question": question, "code": code}
    return RemoteAnswer(status, {"error": {k: v for k, v in error.items() if v is not None}})


def reasons(reply: Reply) -> dict[str, str]:
    """``entry.question`` -> its reason, or ``"ok"``."""
    return {
        f"{name}.{id}": answer.error.value if isinstance(answer, ErrorAnswer) else "ok"
        for name, by_id in reply.answers.items()
        for id, answer in by_id.items()
    }


def expect(reply: Reply, ok: str, **reason: str) -> None:
    """``ok`` and each reason's: ``entry.question`` of them, apart by blanks."""
    wanted = dict.fromkeys(ok.split(), "ok")
    for name, places in reason.items():
        wanted |= dict.fromkeys(places.split(), name)
    assert reasons(reply) == wanted


async def test_a_call_that_is_answered_is_sent_once():
    """S1-10"""
    api = ScriptedApi()
    reply = await ask(api, call({"1": "ab", "2": "a"}))
    assert reply.answers == {"1": {"a": YES, "b": YES}, "2": {"a": YES}}
    assert (reply.attempts, sum(reply.tokens.values()), reply.retry_after_s) == (1, 14, None)
    assert api.asked == [{"1": ["a", "b"], "2": ["a"]}]
    assert api.waits == [None]


async def test_the_retry_leaves_out_the_named_question_on_its_entry_alone():
    """MRG-4: same form, names unchanged."""
    api = ScriptedApi([bad("a", "2")])
    reply = await ask(api, call({"1": "ab", "2": "ab", "3": "a"}))
    expect(reply, "1.a 1.b 2.b 3.a", invalid_question="2.a")
    assert api.asked[1] == {"1": ["a", "b"], "2": ["b"], "3": ["a"]}
    assert reply.attempts == 2


async def test_the_retry_leaves_out_entries_without_questions_and_stays_a_batch():
    """MRG-4: even with one entry left."""
    api = ScriptedApi([bad("a", "1")])
    reply = await ask(api, call({"1": "a", "2": "ab"}))
    expect(reply, "2.a 2.b", invalid_question="1.a")
    assert api.asked[1] == {"2": ["a", "b"]}
    assert api.bodies[1].keys() == {"model", "states"}


async def test_a_standard_request_is_asked_again_without_the_question_that_failed():
    """MRG-4"""
    api = ScriptedApi([bad("b")])
    reply = await ask(api, call({"1": "abc"}))
    expect(reply, "1.a 1.c", invalid_question="1.b")
    assert api.asked == [{"": ["a", "b", "c"]}, {"": ["a", "c"]}]
    assert reply.attempts == 2


async def test_rejected_input_drops_the_whole_entry():
    """MRG-4"""
    api = ScriptedApi([bad("b", "1", "invalid_input")])
    reply = await ask(api, call({"1": "abc", "2": "ab"}))
    expect(reply, "2.a 2.b", invalid_input="1.a 1.b 1.c")
    assert api.asked[1] == {"2": ["a", "b"]}


@pytest.mark.parametrize("code", ["invalid_input", None])
async def test_an_entry_named_alone_is_dropped(code):
    """MRG-4"""
    api = ScriptedApi([bad(None, "1", code)])
    reply = await ask(api, call({"1": "abc", "2": "ab"}))
    expect(reply, "2.a 2.b", invalid_input="1.a 1.b 1.c")


async def test_with_nothing_left_nothing_more_is_sent():
    """MRG-4"""
    for move in (bad("b", code="invalid_input"), bad(None, "1", "invalid_input")):
        api = ScriptedApi([move])
        reply = await ask(api, call({"1": "ab"}))
        expect(reply, "", invalid_input="1.a 1.b")
        assert reply.attempts == len(api.bodies) == 1
    api = ScriptedApi([bad("a")])
    expect(await ask(api, call({"1": "a", "2": "a"})), "", invalid_question="1.a 2.a")
    assert len(api.bodies) == 1


async def test_several_named_questions_are_all_left_out_of_the_one_retry():
    """MRG-4"""
    locs = [["body", "states", "1", "questions", "a"], ["body", "states", "2", "questions", "b"]]
    details = [{"loc": loc, "msg": "", "type": "missing"} for loc in locs]
    api = ScriptedApi([RemoteAnswer(422, {"detail": details})])
    reply = await ask(api, call({"1": "ab", "2": "ab"}))
    expect(reply, "1.b 2.a", invalid_question="1.a 2.b")
    assert reply.attempts == 2


async def test_the_same_question_on_another_entry_is_left_out_everywhere_at_last():
    """MRG-5"""
    api = ScriptedApi([bad("a", "1"), bad("a", "2", "max_length_exceeded")])
    reply = await ask(api, call({"1": "ab", "2": "ab", "3": "ab", "4": "a"}))
    assert api.asked[1:] == [
        {"1": ["b"], "2": ["a", "b"], "3": ["a", "b"], "4": ["a"]},
        {"1": ["b"], "2": ["b"], "3": ["b"]},
    ]
    expect(reply, "1.b 2.b 3.b", invalid_question="1.a", max_length_exceeded="2.a 3.a 4.a")
    assert reply.attempts == 3


async def test_rejected_input_of_another_entry_at_the_same_question_drops_that_entry_too():
    """MRG-4, MRG-5"""
    api = ScriptedApi([bad("a", "1", "invalid_input"), bad("a", "2", "invalid_input")])
    reply = await ask(api, call({"1": "ab", "2": "ab", "3": "ab"}))
    assert api.asked[1:] == [{"2": ["a", "b"], "3": ["a", "b"]}, {"3": ["b"]}]
    expect(reply, "3.b", invalid_input="1.a 1.b 2.a 2.b 3.a")


async def test_another_question_named_with_the_same_is_left_out_where_it_is_named():
    """MRG-5"""
    locs = [["body", "states", "2", "questions", id] for id in "ab"]
    both = RemoteAnswer(422, {"detail": [{"loc": loc, "type": "missing"} for loc in locs]})
    api = ScriptedApi([bad("a", "1"), both])
    reply = await ask(api, call({"1": "ab", "2": "abc", "3": "ab"}))
    assert api.asked[2] == {"1": ["b"], "2": ["c"], "3": ["b"]}
    expect(reply, "1.b 2.c 3.b", invalid_question="1.a 2.a 2.b 3.a")


async def test_nothing_is_sent_after_the_last_attempt():
    """MRG-5, MRG-6"""
    api = ScriptedApi([bad("a", "1"), bad("a", "2"), bad("b", "3", "max_length_exceeded", 413)])
    reply = await ask(api, call({"1": "ab", "2": "ab", "3": "abc"}))
    assert reply.attempts == len(api.bodies) == 3
    expect(reply, "", invalid_question="1.a 2.a 3.a", max_length_exceeded="1.b 2.b 3.b 3.c")


async def test_a_second_question_failing_on_entry_after_entry_gets_no_fourth_send():
    """MRG-5"""
    locs = [["body", "states", "2", "questions", id] for id in "ab"]
    both = RemoteAnswer(422, {"detail": [{"loc": loc, "type": "missing"} for loc in locs]})
    api = ScriptedApi([bad("a", "1"), both, bad("b", "3")])
    reply = await ask(api, call({"1": "ab", "2": "abc", "3": "abc"}))
    assert reply.attempts == len(api.bodies) == MOST_POSTS
    expect(reply, "", invalid_question="1.a 2.a 3.a 2.b 3.b 1.b", unavailable="2.c 3.c")


async def test_another_question_failing_the_retry_ends_the_call():
    """MRG-6: what was dropped keeps its reason."""
    api = ScriptedApi([bad("a", "1"), bad("b", "1", "max_length_exceeded")])
    reply = await ask(api, call({"1": "ab", "2": "ab"}))
    expect(reply, "", invalid_question="1.a", max_length_exceeded="1.b", unavailable="2.a 2.b")
    assert reply.attempts == 2


async def test_another_entry_failing_the_retry_at_no_question_ends_the_call():
    """MRG-6"""
    api = ScriptedApi([bad(None, "1"), bad(None, "2")])
    reply = await ask(api, call({"1": "a", "2": "a", "3": "a"}))
    expect(reply, "", invalid_input="1.a 2.a", unavailable="3.a")
    assert reply.attempts == 2


async def test_a_question_named_without_its_entry_is_left_out_of_all():
    """MRG-6"""
    api = ScriptedApi([bad("a", code="invalid_input")])
    reply = await ask(api, call({"1": "ab", "2": "a", "3": "b"}))
    expect(reply, "1.b 3.b", invalid_input="1.a 2.a")
    assert api.asked[1] == {"1": ["b"], "3": ["b"]}


async def test_a_question_named_without_its_entry_has_one_retry():
    """MRG-6"""
    api = ScriptedApi([bad("a"), bad("b", "2")])
    reply = await ask(api, call({"1": "ab", "2": "abc"}))
    expect(reply, "", invalid_question="1.a 2.a 2.b", unavailable="1.b 2.c")
    assert reply.attempts == 2


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (RemoteAnswer(500), "unavailable"),
        (RemoteAnswer(404, {"detail": "Not Found"}), "unavailable"),
        (RemoteAnswer(302), "unavailable"),
        (RemoteAnswer(413), "max_length_exceeded"),
        (RemoteAnswer(422, {"detail": [{"loc": ["body", "questions", "z"]}]}), "unavailable"),
        (RemoteAnswer(503), "not_ready"),
        (RemoteAnswer(429), "unavailable"),
        (RemoteAnswer(529, None, 1.5), "overloaded"),
        (RemoteAnswer(200), "invalid_model_output"),
        (RemoteAnswer(200, [1]), "invalid_model_output"),
        (RemoteError(AnswerError.UNAVAILABLE), "unavailable"),
        (RemoteError(AnswerError.DEADLINE_EXCEEDED), "deadline_exceeded"),
    ],
    ids=repr,
)
async def test_a_failure_that_names_nothing_is_not_retried_and_ends_a_retry(move, reason):
    """MRG-6, MRG-7, BUD-1"""
    api = ScriptedApi([move])
    reply = await ask(api, call({"1": "ab", "2": "a"}))
    expect(reply, "", **{reason: "1.a 1.b 2.a"})
    assert reply.attempts == len(api.bodies) == 1
    assert reply.retry_after_s == (1.5 if reason == "overloaded" else None)

    api = ScriptedApi([bad("a", "1"), move])
    reply = await ask(api, call({"1": "ab", "2": "a"}))
    expect(reply, "", invalid_question="1.a", **{reason: "1.b 2.a"})
    assert reply.attempts == len(api.bodies) == 2
    assert reply.retry_after_s == (1.5 if reason == "overloaded" else None)


async def test_errors_in_place_fail_their_questions_alone_and_nothing_is_retried():
    """MRG-3, MRG-7"""
    answers = {
        "a": {"type": "error", "error": "invalid_question"},
        "b": {"type": "noul", "noul": 1},
    }
    api = ScriptedApi([RemoteAnswer(200, {"answers": answers})])
    reply = await ask(api, call({"1": "abc"}))
    assert reply.answers == {
        "1": {"a": ErrorAnswer(AnswerError.INVALID_QUESTION), "b": NoulAnswer(1.0), "c": MALFORMED}
    }
    assert reply.attempts == 1


async def test_a_batch_that_lost_its_other_entries_is_still_one():
    """MRG-4: ``batch`` is the form of the whole call."""
    api = ScriptedApi()
    reply = await ask(api, call({"2": "a"}), batch=True)
    assert api.asked == [{"2": ["a"]}]
    expect(reply, "2.a")


async def test_a_call_of_nothing_is_not_sent():
    api = ScriptedApi()
    assert (await ask(api, call({}))).attempts == 0
    assert (await ask(api, call({"1": ""}))).answers == {"1": {}}
    assert api.bodies == []


async def test_all_sends_share_one_deadline_that_leaves_time_for_the_last_word():
    """BUD-3, MRG-4: each may wait for what is left."""
    api = ScriptedApi([bad("a", "1"), bad("a", "2")], takes_s=0.3)
    reply = await ask(api, call({"1": "ab", "2": "ab", "3": "a"}, timeout_s=1.0))
    assert api.waits == pytest.approx([1, 0.7 - LAST_WORD_S, 0.4 - LAST_WORD_S])
    assert reply.elapsed_ms == pytest.approx(900)
    assert reply.attempts == 3


async def test_an_answer_in_time_is_never_late_and_a_short_wait_gives_a_tenth_to_the_last_word():
    """BUD-3: nothing is known before the first answer that could be lost"""
    api = ScriptedApi([bad("a")])
    await ask(api, call({"1": "ab"}, timeout_s=0.01))
    assert api.waits == pytest.approx([0.01, 0.009])


async def test_a_retry_that_has_no_time_is_not_sent():
    """BUD-1, BUD-3: what is left is late; what was dropped keeps its reason."""
    api = ScriptedApi([bad("a", "1")], takes_s=0.98)
    reply = await ask(api, call({"1": "ab", "2": "a"}, timeout_s=1.0))
    expect(reply, "", invalid_question="1.a", deadline_exceeded="1.b 2.a")
    assert reply.attempts == len(api.bodies) == 1


async def test_a_retry_that_is_late_leaves_the_rest_late():
    """BUD-1, BUD-3"""
    api = ScriptedApi([bad("a", "1")], takes_s=0.6)
    reply = await ask(api, call({"1": "ab", "2": "a"}, timeout_s=1.0))
    expect(reply, "", invalid_question="1.a", deadline_exceeded="1.b 2.a")
    assert reply.attempts == 2
    assert reply.elapsed_ms == pytest.approx((1 - LAST_WORD_S) * 1000)


async def test_a_call_without_time_is_not_sent():
    """BUD-1"""
    for timeout_s in (0.0, -1.0):
        api = ScriptedApi()
        reply = await ask(api, call({"1": "a"}, timeout_s=timeout_s))
        expect(reply, "", deadline_exceeded="1.a")
        assert reply.attempts == len(api.bodies) == 0


NAMES = st.sampled_from("123")
IDS = st.sampled_from("abcd")
FAILURES = st.one_of(
    st.builds(
        bad,
        IDS | st.none(),
        NAMES | st.none(),
        st.sampled_from([None, "invalid_input", "invalid_question", "max_length_exceeded"]),
        st.sampled_from([400, 422, 500]),
    ),
    st.builds(
        lambda places: RemoteAnswer(
            422,
            {
                "detail": [
                    {"loc": ["body", "states", e, "questions", q], "type": code}
                    for e, q, code in places
                ]
            },
        ),
        st.lists(st.tuples(NAMES, IDS, st.sampled_from(["missing", "invalid_input"])), max_size=3),
    ),
    st.sampled_from([RemoteAnswer(529), RemoteAnswer(500), RemoteError(AnswerError.UNAVAILABLE)]),
    st.none(),
)
CALLS = st.dictionaries(
    NAMES, st.sets(IDS, min_size=1).map(lambda ids: "".join(sorted(ids))), min_size=1
)


def within(later: Mapping[str, Any], earlier: Mapping[str, Any]) -> bool:
    """Whether a body asks nothing that an earlier one did not, in its form and order."""
    if later.keys() != earlier.keys() or later["model"] != earlier["model"]:
        return False
    if "states" not in later:
        return later["state"] == earlier["state"] and _ordered(
            later["questions"], earlier["questions"]
        )
    return _ordered(dict.fromkeys(later["states"]), dict.fromkeys(earlier["states"])) and all(
        entry["state"] == earlier["states"][name]["state"]
        and entry["questions"]
        and _ordered(entry["questions"], earlier["states"][name]["questions"])
        for name, entry in later["states"].items()
    )


def _ordered(later: Mapping[str, Any], earlier: Mapping[str, Any]) -> bool:
    return list(later.items()) == [item for item in earlier.items() if item[0] in later]


@given(CALLS, st.lists(FAILURES, max_size=6))
async def test_however_an_api_fails_three_sends_of_ever_less_settle_every_question(asked, moves):
    """MRG-4 to MRG-6"""
    api = ScriptedApi(list(moves), always=RemoteAnswer(500))
    wanted = call(asked)
    reply = await ask(api, wanted)
    assert reply.attempts == len(api.bodies)
    assert 1 <= len(api.bodies) <= MOST_POSTS
    assert api.asked[0] == {
        ("" if len(asked) == 1 else name): list(ids) for name, ids in asked.items()
    }
    for earlier, later in zip(api.bodies, api.bodies[1:], strict=False):
        assert within(later, earlier)
        assert later != earlier
    assert {name: list(by_id) for name, by_id in reply.answers.items()} == {
        name: list(ids) for name, ids in asked.items()
    }
    last = api.asked[-1]
    answered = len(moves) >= len(api.bodies) and moves[len(api.bodies) - 1] is None
    for name, by_id in reply.answers.items():
        sent = last.get("" if len(asked) == 1 else name, [])
        for id, answer in by_id.items():
            if answered and id in sent:
                assert answer == YES
            else:
                assert isinstance(answer, ErrorAnswer)


async def test_a_retry_goes_over_a_fresh_connection_and_every_post_counts():
    """MRG-5: a first call that a closed connection made twice leaves one more"""
    first = replace(bad("a", "1"), posts=2)
    api = ScriptedApi(moves=[first, bad("a", "2")])
    reply = await ask(api, call({"1": "ab", "2": "ab"}))
    assert api.fresh == [False, True]
    assert reply.attempts == MOST_POSTS
    assert reasons(reply)["2.a"] == "invalid_question"
    assert reasons(reply)["2.b"] != "ok"
