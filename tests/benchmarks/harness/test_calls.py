"""What is asked has exact lengths, and new is new."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.harness.calls import MOST_QUESTIONS, Call, Calls
from models.cards.shipped import shipped_card
from models.embedded.described import texts_of
from models.embedded.files import encoder_files
from models.embedded.tokenizer import ChunkTokenizer
from models.questions.parse import parse_question
from models.questions.types import Question, QuestionType

CALLS = Calls(1)


def question(number: int) -> Question:
    return parse_question(CALLS.question(number), client=True)


@pytest.fixture(scope="module")
def tokenizer() -> ChunkTokenizer:
    files = encoder_files(shipped_card("embedded").sha256)
    return ChunkTokenizer(files["tokenizer.json"])


@given(state=st.integers(0, 10**6), tokens=st.sampled_from([1, 30, 31, 400]))
def test_a_state_has_exactly_its_tokens(tokenizer: ChunkTokenizer, state: int, tokens: int) -> None:
    assert tokenizer.tokens(CALLS.state(Call(state, tokens, ())), 10_000).count == tokens


def test_no_two_states_of_a_run_are_alike() -> None:
    for tokens in (30, 400):
        states = [CALLS.state(Call(number, tokens, ())) for number in range(3_000)]
        assert len(set(states)) == len(states)


def test_another_generation_has_the_same_shapes_and_no_text_in_common() -> None:
    numbers = range(MOST_QUESTIONS * 40)
    asked = [question(n) for n in numbers]
    texts = [
        text
        for q in asked
        for text in texts_of(q)
        if q.type is QuestionType.NOUL
        or text != q.instructions  # "Which is it?" is always the same
    ]
    assert len(set(texts)) == len(texts)
    for n in range(MOST_QUESTIONS):
        first, later = question(n), question(n + 7 * MOST_QUESTIONS)
        assert (first.type, len(first.options)) == (later.type, len(later.options))


def test_types_and_numbers_of_options_are_mixed() -> None:
    shapes = {(q.type, len(q.options)) for q in map(question, range(MOST_QUESTIONS))}
    assert shapes == {
        (QuestionType.NOUL, 0),
        *((QuestionType.CHOICE, n) for n in (3, 4, 5, 6)),
        *((QuestionType.SCORE, n) for n in (3, 4, 5)),
    }


def test_question_texts_end_with_an_error_and_not_with_a_repetition() -> None:
    with pytest.raises(IndexError, match="fewer rounds"):
        CALLS.question(10**6)


def test_a_body_asks_the_questions_of_the_call_in_order() -> None:
    body = orjson.loads(CALLS.body(Call(3, 30, (5, 0))))
    assert list(body["questions"].values()) == [CALLS.question(5), CALLS.question(0)]
    assert body["state"] == CALLS.state(Call(3, 30, ()))
