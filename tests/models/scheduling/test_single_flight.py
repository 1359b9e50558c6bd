"""One computation for equal questions, in flight and cached. SRV-10, CACHE-1, CACHE-3, BUD-4"""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.engine import Row
from models.questions.presets import preset_question
from models.questions.types import (
    GUARDS,
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    SpanAnswer,
)
from models.scheduling.keys import ContentKeys
from models.scheduling.messages import ModelCall
from models.scheduling.settings import Settings
from models.scheduling.work import Ticket
from tests.doubles.engines import CountedRow, answers


def test_equal_questions_in_flight_are_computed_once_for_all_callers(make_bench: Any) -> None:
    bench = make_bench(Settings(cached_answers=0))
    tickets = [bench.ask("state") for _ in range(5)]
    bench.drain()
    assert bench.forwards == [["state"]]
    assert len({ticket.reply.answers for ticket in tickets}) == 1
    assert bench.scheduler.counts.shared == 4


def test_a_question_joins_a_forward_that_already_runs(make_bench: Any) -> None:
    bench = make_bench(Settings(cached_answers=0))
    bench.ask("state")
    forward = bench.start()
    bench.now += 0.01
    late = bench.ask("state")
    bench.finish(forward)
    assert late.reply is not None
    assert late.reply.queue_ms == 0
    assert bench.scheduler.counts.rows == 1


def test_only_the_missing_questions_about_a_state_are_computed(bench: Any) -> None:
    bench.ask("state", questions=("a",))
    forward = bench.start()
    both = bench.submit("state", questions=("a", "b"))
    (item,) = both.unread
    assert [q.instructions for q in item.row.questions] == ["b"]
    bench.finish(forward)
    again = bench.submit("state", questions=("c", "a"))
    (item,) = again.unread
    assert [q.instructions for q in item.row.questions] == ["c"]


def test_a_question_asked_twice_in_one_call_is_computed_once(bench: Any) -> None:
    ticket = bench.ask("state", "state", questions=("a", "b", "a"))
    bench.drain()
    assert bench.forwards == [["state"]]
    first, second = ticket.reply.answers
    assert first == second
    assert first[0] == first[2] != first[1]


def test_a_cached_answer_costs_nothing_and_tells_the_same_tokens(bench: Any) -> None:
    computed = bench.ask("some state")
    bench.drain()
    cached = bench.ask("some state")
    assert cached.reply.answers == computed.reply.answers
    assert cached.reply.tokens == computed.reply.tokens
    assert cached.unread == []
    assert bench.scheduler.counts.cached == 1


def test_without_a_cache_an_answered_question_is_computed_again(make_bench: Any) -> None:
    bench = make_bench(Settings(cached_answers=0))
    for _ in range(2):
        bench.ask("state")
        bench.drain()
    assert bench.forwards == [["state"], ["state"]]


def test_errors_are_never_cached(bench: Any) -> None:
    bench.ask("state")
    bench.scheduler.failed(bench.start(), bench.now, bench.now)
    bench.ask("state")
    forward = bench.start()
    bench.scheduler.finished(
        forward, [(ErrorAnswer(AnswerError.INVALID_INPUT),)], bench.now, bench.now
    )
    ticket = bench.ask("state")
    bench.drain()
    assert bench.forwards == [["state"]] * 3
    assert isinstance(ticket.reply.answers[0][0], NoulAnswer)


@pytest.mark.parametrize(
    "nonsense", [NoulAnswer(float("nan")), NoulAnswer(1.5), SpanAnswer(()), "yes"]
)
def test_what_is_no_answer_to_the_question_is_never_cached(bench: Any, nonsense: Any) -> None:
    """CACHE-3, UNK-1"""
    ticket = bench.ask("state")
    bench.scheduler.finished(bench.start(), [(nonsense,)], bench.now, bench.now)
    assert ticket.reply.answers[0][0] == ErrorAnswer(
        AnswerError.INVALID_MODEL_OUTPUT, "the model's answer is malformed"
    )
    ticket = bench.ask("state")
    bench.drain()
    assert bench.forwards == [["state"]] * 2
    assert isinstance(ticket.reply.answers[0][0], NoulAnswer)


def test_an_answer_that_nobody_waited_for_to_the_end_is_not_kept(bench: Any) -> None:
    """CACHE-3: who expires or is cancelled before the forward leaves nothing behind"""
    bench.ask("late", remaining_s=1.0)
    bench.scheduler.cancel(bench.ask("left"))
    bench.now = 2.0
    bench.drain()
    for state in ("late", "left"):
        assert bench.ask(state).reply is None
    bench.drain()
    assert sorted(state for forward in bench.forwards for state in forward) == ["late", "left"]


def test_a_hundred_equal_questions_cost_one_forward_of_one_row(make_bench: Any) -> None:
    """SRV-10, CACHE-1"""
    bench = make_bench(Settings(cached_answers=0))
    tickets = [bench.ask("state") for _ in range(100)]
    bench.drain()
    assert bench.forwards == [["state"]]
    assert all(ticket.reply is not None for ticket in tickets)


@given(st.sampled_from(["type", "instructions", "options", "guards"]))
def test_whatever_changes_a_question_changes_its_key(changed: str) -> None:
    """CACHE-1: so a preset of another text is another question"""
    preset = preset_question("jailbreak")
    first, *rest = preset.options
    other = {
        "type": replace(preset, type=QuestionType.CHOICE),
        "instructions": replace(preset, instructions=preset.instructions + " "),
        "options": replace(preset, options=(replace(first, text="Something else."), *rest)),
        "guards": replace(preset, preset=None),
    }[changed]
    assert ContentKeys("1").question(other) != ContentKeys("1").question(preset)


def test_a_computation_goes_on_while_anyone_waits_for_it(bench: Any) -> None:
    first = bench.ask("state")
    second = bench.ask("state")
    bench.scheduler.cancel(first)
    bench.drain()
    assert second.reply is not None
    assert first.reply is None


def test_a_computation_nobody_waits_for_leaves_the_queue(bench: Any) -> None:
    first = bench.ask("state", questions=("a", "b"))
    second = bench.ask("state", remaining_s=1.0)
    bench.scheduler.cancel(first)
    bench.now = 2.0
    bench.drain()
    assert bench.forwards == []
    assert bench.scheduler.counts.cancelled == 2
    assert bench.scheduler.counts.expired == 1
    assert second.reply.answers == ((ErrorAnswer(AnswerError.DEADLINE_EXCEEDED),),)


def test_a_key_knows_the_content_and_neither_threshold_nor_the_name_of_a_preset() -> None:
    keys, other = ContentKeys("1"), ContentKeys("2")
    plain = Question(QuestionType.CHOICE, "which", (Option("a"), Option("b")))
    dressed = Question(plain.type, plain.instructions, plain.options, "domain", 0.9)
    swapped = Question(plain.type, plain.instructions, plain.options[::-1])
    assert keys.question(plain) == keys.question(dressed)
    assert keys.question(plain) != keys.question(swapped)
    assert keys.state("s") != other.state("s")
    assert keys.state("\ud800") != keys.state("s")
    long = Question(QuestionType.NOUL, "x" * 100_000)
    assert keys.question(long) == long.digest()
    assert len(keys.state("s")) == len(keys.question(plain)) == 32, "strangers choose both"


def guard_and_copy() -> tuple[Question, Question]:
    """A guard, and its very text as a client writes it."""
    guard = preset_question("jailbreak")
    return guard, Question(guard.type, guard.instructions, guard.options)


@given(st.sampled_from(sorted(GUARDS)))
def test_a_guard_and_the_same_text_asked_by_a_client_are_two_questions(preset: str) -> None:
    """SRV-17, CACHE-3"""
    guard = preset_question(preset)
    copy = Question(guard.type, guard.instructions, guard.options)
    named = Question(guard.type, guard.instructions, guard.options, "domain")
    assert guard != copy == named
    assert ContentKeys("1").question(guard) != ContentKeys("1").question(copy)
    assert pickle.loads(pickle.dumps(guard)) == guard
    assert pickle.loads(pickle.dumps(copy)) == copy


def test_a_guard_is_computed_though_a_client_had_its_text_answered(bench: Any) -> None:
    """SRV-17, law 1: not from the cache, not in flight, and not beside it in one call (S1-4)"""
    guard, copy = guard_and_copy()

    def read(*questions: Question) -> list[tuple[Question, ...]]:
        ticket = bench.scheduler.submit(ModelCall((Row("state", questions),)), bench.now)
        for item in ticket.unread:
            bench.scheduler.prepared(item, CountedRow(item.row), 0.0)
        return [item.row.questions for item in ticket.unread]

    assert read(copy) == [(copy,)]
    assert read(guard) == [(guard,)]
    bench.drain()
    assert read(copy) == []
    other = bench.scheduler.submit(ModelCall((Row("other", (copy, guard)),)), bench.now)
    assert [q.guards for q in other.unread[0].row.questions] == [False, True]


def test_long_question_texts_about_one_state_are_computed_in_parts(bench: Any) -> None:
    """SRV-6: the texts that are new to a model are read in the forward of their row"""
    texts = tuple(f"{i}" + "long " * 2_000 for i in range(4))
    ticket = bench.ask("state", questions=(*texts, "short"))
    assert [len(item.row.questions) for item in ticket.unread] == [1, 1, 1, 2]
    bench.drain()
    asked = tuple(Question(QuestionType.NOUL, text) for text in (*texts, "short"))
    assert ticket.reply.answers == (answers(Row("state", asked)),)
    again = bench.submit("another state", questions=texts)
    assert len(again.unread) == 1, "they are known now"


def test_known_texts_about_one_state_are_in_parts_too_where_they_are_very_long(bench: Any) -> None:
    """SRV-6: an engine may have dropped what it knew of them"""
    texts = tuple(f"{i}" + "long " * 3_000 for i in range(20))
    bench.ask("state", questions=texts)
    bench.drain()
    again = bench.ask("another state", questions=texts)
    assert [len(item.row.questions) for item in again.unread] == [8, 8, 4]
    bench.drain()
    asked = tuple(Question(QuestionType.NOUL, text) for text in texts)
    assert again.reply.answers == (answers(Row("another state", asked)),)


def test_siblings_keep_their_answers_when_a_call_expires(make_bench: Any) -> None:
    """BUD-1, BUD-2"""
    bench = make_bench(speed_s=0.05)
    ticket = bench.ask("short", "long" * 1000, remaining_s=1.6)
    bench.drain()
    (short,), (late,) = ticket.reply.answers
    assert isinstance(short, NoulAnswer)
    assert late == ErrorAnswer(AnswerError.DEADLINE_EXCEEDED)
    assert bench.forwards == [["short"]]


def test_a_failed_forward_fails_its_own_rows_and_the_next_runs(bench: Any) -> None:
    """SRV-18"""
    failed = bench.ask("short")
    kept = bench.ask("long" * 500)
    bench.scheduler.failed(bench.start(), bench.now, bench.now)
    bench.drain()
    assert failed.reply.answers[0][0].error is AnswerError.UNAVAILABLE
    assert isinstance(kept.reply.answers[0][0], NoulAnswer)


def test_an_answer_too_few_fails_its_row_alone(bench: Any) -> None:
    ticket = bench.ask("a", "b", questions=("q", "r"))
    forward = bench.start()
    computed = [answers(row.row) for row in forward.rows]
    bench.scheduler.finished(forward, [computed[0][:1], computed[1]], bench.now, bench.now)
    first, second = ticket.reply.answers
    assert {answer.error for answer in first} == {AnswerError.UNAVAILABLE}
    assert second == computed[1]


def test_a_question_that_could_not_be_read_does_not_hide_the_tokens_of_its_state() -> None:
    """S1-11: usage counts the state, whichever of its questions is answered last"""
    row = Row("a state", (Question(QuestionType.NOUL, "a"), Question(QuestionType.NOUL, "b")))
    ticket = Ticket(ModelCall((row,)), 0.0)
    ticket.fill(0, 0, NoulAnswer(0.5), 3)
    ticket.fill(0, 1, ErrorAnswer(AnswerError.UNAVAILABLE), 0)
    assert ticket.tokens == [3]
