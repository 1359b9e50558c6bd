"""The last answers, within their bytes. CACHE-1, CACHE-3"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from models.scheduling.result_cache import LARGEST_BYTES, MEAN_BYTES, ResultCache
from models.scheduling.settings import DEFAULT_CACHED_ANSWERS

NOUL = Question(QuestionType.NOUL, "Is it?")
MOST_BYTES = DEFAULT_CACHED_ANSWERS * MEAN_BYTES


def key(number: int) -> bytes:
    return number.to_bytes(64, "big")


def choice(*names: str) -> Question:
    return Question(QuestionType.CHOICE, "Which?", tuple(Option(name) for name in names))


def test_the_cache_forgets_the_least_recently_used_answer() -> None:
    cache = ResultCache(2)
    cache.put(b"a", NOUL, NoulAnswer(0.1), 1)
    cache.put(b"b", NOUL, NoulAnswer(0.2), 1)
    assert cache.get(b"a", NOUL) is not None
    cache.put(b"c", NOUL, NoulAnswer(0.3), 1)
    assert cache.get(b"b", NOUL) is None
    assert cache.get(b"a", NOUL) is not None
    assert len(cache) == 2


ANSWERS: list[tuple[Question, Answer]] = [
    (NOUL, NoulAnswer(0.25)),
    (choice("a", "b"), ChoiceAnswer(("a", "b"), (0.1, 0.9))),
    (choice("a", "b"), SetAnswer(("a", "b"), (0.7, 1 / 3))),
    (
        Question(QuestionType.SCORE, "How?", (Option("0", "low"), Option("1"))),
        ScoreAnswer(("low", "1"), (0.5, 0.5)),
    ),
    (choice("a", "b"), ChoiceAnswer(("b", "a"), (0.1, 0.9))),
    (choice("PERSON"), SpanAnswer((Span("PERSON", 0, 3, "Ada", 0.9),))),
]


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_an_answer_comes_back_as_it_was_given(question: Question, answer: Answer) -> None:
    """S1-2: names included, also those that an engine gives itself"""
    cache = ResultCache(4)
    cache.put(b"key", question, answer, 7)
    assert cache.get(b"key", question) == (answer, 7)


def test_no_error_is_kept() -> None:
    cache = ResultCache(4)
    cache.put(b"key", NOUL, ErrorAnswer(AnswerError.UNAVAILABLE), 1)
    assert len(cache) == 0


def test_a_full_cache_of_choices_among_255_keeps_every_one(traced: Callable[[], int]) -> None:
    """CACHE-1, LIM-1: whatever their keys, which are kept by none"""
    cache = ResultCache(DEFAULT_CACHED_ANSWERS)
    before = traced()
    names = tuple([f"tool {j}" for j in range(255)])
    question = choice(*names)
    for i in range(DEFAULT_CACHED_ANSWERS):
        answer = ChoiceAnswer(names, (i / 7,) * 255)
        cache.put(key(i), question, answer, i)
    assert len(cache) == DEFAULT_CACHED_ANSWERS
    assert cache.get(key(i), question) == (answer, i)
    assert traced() - before < cache.memory + 2**20 < MOST_BYTES


def test_keys_of_megabytes_are_given_back_and_not_kept(traced: Callable[[], int]) -> None:
    cache = ResultCache(DEFAULT_CACHED_ANSWERS)
    before = traced()
    for i in range(20):
        long = f"{i}" + " " * 2_000_000
        answer = ChoiceAnswer((long, "b"), (0.75, 0.25))
        cache.put(key(i), choice(long, "b"), answer, 1)
    assert cache.get(key(i), choice(long, "b")) == (answer, 1)
    del long, answer
    assert traced() - before < 2**20


@pytest.mark.parametrize(("size", "count"), [(0, 2_500), (1_000, 4_000), (500_000, 20)])
def test_texts_in_answers_take_no_more_than_they_may(
    size: int, count: int, traced: Callable[[], int]
) -> None:
    """Spans, and names that an engine gives itself"""
    cache = ResultCache(DEFAULT_CACHED_ANSWERS)
    before = traced()
    for i in range(count):
        texts = [f"{i} {j}" + "\U0001f600" * size for j in range(2)]
        own = ChoiceAnswer(tuple(texts), (0.5, 0.5))
        spans = SpanAnswer(tuple([Span(t, i + 1000, i + 2000, t + "!", i / 7) for t in texts]))
        cache.put(key(2 * i), NOUL, own, 1)
        cache.put(key(2 * i + 1), NOUL, spans, 1)
    del texts, own, spans
    assert cache.memory <= MOST_BYTES
    assert traced() - before < cache.memory + 2**20
    assert (len(cache) > 0) is (8 * size < LARGEST_BYTES)
