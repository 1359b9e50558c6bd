"""What the engine keeps of the questions that it was asked: S1-2, S1-12, SRV-6, SRV-17."""

import sys
import tracemalloc

import numpy as np
import pytest

from models.embedded.engine import EmbeddedEngine
from models.embedded.remembered import ASKINGS_BYTES, QUESTIONS_BYTES, TEXTS_BYTES
from models.engine import Row, answer
from models.questions.types import (
    AnswerError,
    ErrorAnswer,
    Option,
    Question,
    QuestionType,
)


@pytest.fixture
def forgetful(engine):
    """The engine with nothing remembered yet."""
    return EmbeddedEngine(engine.card, engine.layers, engine.tokenizer)


def choice(*options: Option) -> Question:
    return Question(QuestionType.CHOICE, "?", options)


def test_texts_padded_with_blanks_are_answered_and_not_kept(forgetful, traced):
    """S1-2, SRV-17: blanks are no tokens, so no limit on tokens bounds a text"""
    before = traced()
    for i in range(10):
        padded = choice(Option(f"{i} ships" + " " * 1_000_000), Option("soup", "eating soup"))
        ((given,),) = answer(forgetful, [Row("The harbour is full of ships.", (padded,))])
        plain = choice(Option(f"{i} ships"), Option("soup", "eating soup"))
        ((expected,),) = answer(forgetful, [Row("The harbour is full of ships.", (plain,))])
        assert given.keys == (padded.options[0].key, "soup")
        assert given.probabilities == pytest.approx(expected.probabilities, abs=1e-4)
    del padded, given
    assert traced() - before < 4 * 2**20
    assert len(forgetful.known._questions) == 10, "those that were not padded"


def test_what_is_kept_of_questions_is_bounded_whatever_they_hold(forgetful, traced):
    """SRV-17: a description of few characters may have an element, and a vector, for each three"""
    before = traced()
    for i in range(40):
        description = "\n".join(["- a"] * 600)
        asked = choice(Option(f"{i}", description), Option("b"))
        ((given,),) = answer(forgetful, [Row("a", (asked,))])
        assert len(given.probabilities) == 2
    assert 24 * 2**20 < forgetful.known._questions.memory <= QUESTIONS_BYTES
    assert traced() - before < (QUESTIONS_BYTES + ASKINGS_BYTES) * 1.1
    for i in range(6_000):
        text = f"{i}".ljust(10_000)
        forgetful.known._vectors.put(
            text, np.zeros(384, dtype=np.float32), sys.getsizeof(text) + 1648
        )
    assert 24 * 2**20 < forgetful.known._vectors.memory <= TEXTS_BYTES
    assert traced() - before < (QUESTIONS_BYTES + ASKINGS_BYTES + TEXTS_BYTES) * 1.1


@pytest.mark.parametrize("element", ["- a", "- "], ids=["word", "nothing"])
def test_elements_without_number_are_too_long_however_few_their_tokens(forgetful, traced, element):
    """S1-12: each has a place among the vectors, 1.5 kB of it"""
    long = choice(Option("a", "\n".join([element] * 100_000)), Option("b"))
    before = traced()
    tracemalloc.reset_peak()
    ((refused, free),) = answer(
        forgetful, [Row("text", (long, Question(QuestionType.NOUL, "Is it about ships?")))]
    )
    assert refused == ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED, refused.message)
    assert not isinstance(free, ErrorAnswer)
    assert tracemalloc.get_traced_memory()[1] - before < 32 * 2**20


def test_a_text_that_stands_in_many_options_is_read_once(forgetful):
    """SRV-6: it counts once, and a token for each place"""
    shared = "- " + "word " * 60
    many = choice(*(Option(f"{i}", f"{shared}\n- about {i}") for i in range(255)))
    ((given,),) = answer(forgetful, [Row("text", (many,))])
    assert len(given.probabilities) == 255
