"""Zero-shot scoring, on vectors drawn from a text's digest: S1-3, S1-4."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embedded.described import elements
from models.embedded.train.zero_shot import Scorer, texts_of
from models.questions.types import NoulAnswer, Option, Question, QuestionType


def lookup(text: str) -> np.ndarray:
    seed = int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).normal(size=16)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


BACKGROUND = np.stack([lookup(f"background {i}") for i in range(20)])
TEXTS = st.text(max_size=6)
OPTIONS = st.lists(
    st.builds(Option, st.text(min_size=1, max_size=4), st.none() | TEXTS),
    min_size=1,
    max_size=8,
    unique_by=lambda option: option.key,
)


def states(*texts: str) -> np.ndarray:
    return np.stack([lookup(text) for text in texts])


def scorer(question: Question) -> Scorer:
    return Scorer(question, lookup, BACKGROUND)


def by_key(question: Question, state: np.ndarray) -> dict[str, float]:
    given_answer = scorer(question).answer(state)
    keys = [option.key for option in question.options]
    return dict(zip(keys, given_answer.probabilities, strict=True))


@given(st.sampled_from(["choice", "set"]), OPTIONS, TEXTS, st.randoms())
def test_the_order_of_options_changes_nothing(kind, options, state, random):
    """S1-4"""
    shuffled = random.sample(options, len(options))
    first = by_key(Question(QuestionType(kind), "?", tuple(options)), states(state))
    second = by_key(Question(QuestionType(kind), "?", tuple(shuffled)), states(state))
    assert first == pytest.approx(second, abs=1e-6)


@given(OPTIONS, st.lists(TEXTS, min_size=1, max_size=3))
def test_choices_and_scores_are_distributions(options, texts):
    """S1-3"""
    for kind in (QuestionType.CHOICE, QuestionType.SCORE):
        p = by_key(Question(kind, "?", tuple(options)), states(*texts)).values()
        assert sum(p) == pytest.approx(1, abs=1e-12)
        assert all(0 <= x <= 1 for x in p)


@given(OPTIONS, st.lists(TEXTS, min_size=1, max_size=3))
def test_a_label_of_a_set_is_answered_as_if_it_stood_alone(options, texts):
    """S1-4"""
    whole = by_key(Question(QuestionType.SET, "?", tuple(options)), states(*texts))
    for option in options:
        alone = by_key(Question(QuestionType.SET, "?", (option,)), states(*texts))
        assert alone[option.key] == pytest.approx(whole[option.key], abs=1e-6)


def test_a_single_option_is_certain():
    """LIM-1"""
    assert by_key(Question(QuestionType.CHOICE, "?", (Option("only"),)), states("x")) == {"only": 1}


NOULS = [
    Question(QuestionType.NOUL, "is it about ships"),
    Question(QuestionType.NOUL, "?", (Option("true", "is it about ships"),)),
    Question(
        QuestionType.NOUL, "?", (Option("true", "is it about ships"), Option("false", "no ships"))
    ),
]


@pytest.mark.parametrize("question", NOULS)
def test_a_noul_is_likely_where_the_state_is_as_described(question):
    """S1-4"""
    answer = scorer(question).answer(states("is it about ships"))
    assert isinstance(answer, NoulAnswer)
    assert answer.probability > 0.99
    assert scorer(question).answer(states("other")).probability < 0.5


def test_a_noul_with_only_its_false_outcome_described_is_unlikely_there():
    """S1-1"""
    question = Question(QuestionType.NOUL, "", (Option("false", "no ships"),))
    assert scorer(question).answer(states("no ships")).probability < 0.01
    assert scorer(question).answer(states("other")).probability > 0.5


def test_a_noul_holds_for_a_state_if_it_holds_for_a_chunk():
    """SRV-17"""
    alone = scorer(NOULS[2]).answer(states("is it about ships")).probability
    among = scorer(NOULS[2]).answer(states("a", "is it about ships", "b")).probability
    assert among == pytest.approx(alone)


def test_the_elements_of_an_array_are_alternatives():
    """S1-1"""
    assert elements("- one\n- two") == ("one", "two")
    assert elements("- one") == ("- one",)
    assert elements("head:\n  - one") == ("head:\n  - one",)
    question = Question(QuestionType.CHOICE, "?", (Option("a", "- one\n- two"), Option("b")))
    assert texts_of(question) == ("one", "two", "b")
    for text in ("one", "two"):
        assert by_key(question, states(text))["a"] > 0.99
