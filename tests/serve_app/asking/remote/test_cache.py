"""Kept answers of a remote API: CACHE-2, CACHE-3."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.questions.presets import preset_question
from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    Span,
    SpanAnswer,
)
from serve_app.asking.call import Call, Entry
from serve_app.asking.remote.cache import KEPT_S, RemoteCache
from tests.doubles.hand_clock import HandClock

NOUL = Question(QuestionType.NOUL, "Is it?")
YES = NoulAnswer(0.9)


def call(state: Any, question: Question = NOUL, id: str = "q") -> Call:
    return Call("api", {"1": Entry(state, {id: question})})


def keep(cache: RemoteCache, state: Any, question: Question = NOUL, answer: Answer = YES) -> None:
    cache.keep(cache.look_up(call(state, question)), {"1": {"q": answer}})


def kept(cache: RemoteCache, state: Any, question: Question = NOUL, id: str = "q") -> Any:
    """The kept answer; what is kept is not left to ask, and what is left is not kept."""
    found = cache.look_up(call(state, question, id))
    answer = found.kept["1"].get(id)
    assert (answer is None) == (id in found.left.get("1", Entry(state, {})).questions)
    return answer


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def cache(clock: HandClock) -> RemoteCache:
    return RemoteCache(clock)


def test_an_answer_is_kept_ten_minutes_and_no_longer_for_being_asked_for(cache, clock):
    """CACHE-2"""
    keep(cache, "text")
    clock.now += KEPT_S / 2
    assert kept(cache, "text") == YES
    clock.now += KEPT_S / 2 - 0.001
    assert kept(cache, "text") == YES
    clock.now += 0.001
    assert kept(cache, "text") is None
    assert len(cache) == 0


def test_no_setting_keeps_an_answer_longer(clock):
    """CACHE-2"""
    cache = RemoteCache(clock, ttl_s=10 * KEPT_S)
    keep(cache, "text")
    clock.now += KEPT_S
    assert kept(cache, "text") is None


def test_a_change_of_the_configuration_forgets_everything(cache):
    """CACHE-2: an answer that was on its way as well."""
    keep(cache, "text")
    asked = cache.look_up(call("other"))
    cache.clear()
    cache.keep(asked, {"1": {"q": YES}})
    assert kept(cache, "text") is None
    assert kept(cache, "other") is None
    keep(cache, "other")
    assert kept(cache, "other") == YES


def test_the_least_recently_asked_go_first(clock):
    cache = RemoteCache(clock, size=2)
    keep(cache, "a")
    keep(cache, "b")
    assert kept(cache, "a") == YES
    keep(cache, "c")
    assert kept(cache, "b") is None
    assert kept(cache, "a") == kept(cache, "c") == YES


def test_a_cache_of_no_size_keeps_nothing(clock):
    cache = RemoteCache(clock, size=0)
    keep(cache, "a")
    assert kept(cache, "a") is None


def test_errors_are_not_kept(cache):
    """CACHE-3"""
    for error in AnswerError:
        keep(cache, "text", answer=ErrorAnswer(error))
    assert len(cache) == 0


def test_ids_thresholds_and_names_of_presets_share_an_answer(cache):
    """CACHE-3, S1-2"""
    preset = preset_question("fact_check")
    keep(cache, "text", replace(preset, threshold=0.9))
    for same in (preset, replace(preset, preset=None), replace(preset, threshold=0.1)):
        assert kept(cache, "text", same, id="another") == YES


@pytest.mark.parametrize(
    "other",
    ["text ", {"request": "text"}, ["text"], {"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}],
    ids=str,
)
def test_other_states_have_other_answers(cache, other):
    """CACHE-2"""
    for state in ("text", {"a": [1]}, {"a": None}):
        keep(cache, state)
    assert kept(cache, other) is None
    keep(cache, other, answer=NoulAnswer(0.1))
    assert kept(cache, other) == NoulAnswer(0.1)


def test_members_in_another_order_are_another_state(cache):
    """CACHE-2: a model may read them in it."""
    keep(cache, {"a": "x", "b": "y"})
    assert kept(cache, {"b": "y", "a": "x"}) is None


def test_other_questions_have_other_answers(cache):
    """CACHE-2: a guard is another question than its text (SRV-17)."""
    guard = preset_question("jailbreak")
    keep(cache, "text", guard)
    assert kept(cache, "text", replace(guard, preset=None)) is None
    assert kept(cache, "text", replace(guard, instructions="Is it?")) is None


def test_half_surrogates_are_as_good_as_other_characters(cache):
    keep(cache, "\ud800")
    assert kept(cache, "\ud800") == YES
    assert kept(cache, "\ud801") is None


def test_a_choice_of_255_options_is_kept_and_a_text_full_of_spans_is_not(cache):
    """A kept answer is small, whatever it is about."""
    options = tuple(Option(f"option {i:03}") for i in range(255))
    choice = Question(QuestionType.CHOICE, "Which?", options)
    wide = ChoiceAnswer(tuple(o.key for o in options), (1.0, *[0.0] * 254))
    keep(cache, "text", choice, wide)
    assert kept(cache, "text", choice) == wide
    span = Question(QuestionType.SPAN, "Where?", (Option("PERSON"),))
    few = SpanAnswer((Span("PERSON", 0, 3, "Ann", 0.9),) * 20)
    keep(cache, "few", span, few)
    assert kept(cache, "few", span) == few
    keep(cache, "many", span, SpanAnswer(few.spans * 20))
    assert kept(cache, "many", span) is None
    keep(cache, "long", span, SpanAnswer((Span("PERSON", 0, 50_000, "A" * 50_000, 0.9),)))
    assert kept(cache, "long", span) is None
