"""Temperatures and thresholds: S1-14, SRV-19."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embedded.train.calibrate import (
    ENOUGH,
    by_truth,
    span_temperature,
    temperatures,
    threshold,
)
from models.embedded.train.examples import Asked
from models.questions.presets import preset_question
from models.questions.types import (
    ChoiceAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)

FREE = Question(QuestionType.NOUL, "Is it so?")
CHOICE = Question(QuestionType.CHOICE, "Which?", tuple(Option(k) for k in "abc"))
SET = Question(QuestionType.SET, "Which?", tuple(Option(k) for k in "abc"))
PROBABILITIES = st.floats(0, 0.999999)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def nouls(question: Question, scale: float, count: int = 4_000, seed: int = 0):
    """Answers whose log odds are ``scale`` times the calibrated ones."""
    random = np.random.default_rng(seed)
    odds = random.normal(0, 2, count)
    truths = random.random(count) < sigmoid(odds)
    answers = [NoulAnswer(float(p)) for p in sigmoid(scale * odds)]
    return [(Asked("any", question, bool(t)), a) for t, a in zip(truths, answers, strict=True)]


def options(of, question: Question, scale: float, count: int = 3_000):
    random = np.random.default_rng(1)
    found = []
    for logits in random.normal(0, 2, (count, 3)):
        p = np.exp(logits) / np.exp(logits).sum()
        q = np.exp(scale * logits) / np.exp(scale * logits).sum()
        truth = int(random.choice(3, p=p))
        found.append((Asked("any", question, truth), of(("a", "b", "c"), tuple(q.tolist()))))
    return found


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 3.0])
def test_the_temperature_of_odds_is_what_they_were_multiplied_by(scale):
    """S1-14: 1 where they are calibrated"""
    assert temperatures(nouls(FREE, scale))["noul"] == pytest.approx(scale, rel=0.1)


@pytest.mark.parametrize("of", [ChoiceAnswer, ScoreAnswer])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_options_have_a_temperature_too(of, scale):
    """S1-14"""
    assert temperatures(options(of, CHOICE, scale))["choice"] == pytest.approx(scale, rel=0.1)


def test_a_sets_labels_are_claims_of_their_own():
    """S1-14"""
    random = np.random.default_rng(2)
    found = []
    for odds in random.normal(0, 2, (1_500, 3)):
        truth = frozenset(np.flatnonzero(random.random(3) < sigmoid(odds)).tolist())
        found.append((Asked("any", SET, truth), SetAnswer(tuple("abc"), tuple(sigmoid(2 * odds)))))
    assert temperatures(found)["set"] == pytest.approx(2, rel=0.1)


def test_a_preset_of_enough_answers_has_its_own():
    """S1-14"""
    own = nouls(preset_question("jailbreak"), 3.0, 1_000)
    found = temperatures([*own, *nouls(FREE, 1.0), *nouls(preset_question("harm"), 3.0, 20)])
    assert set(found) == {"noul", "jailbreak.noul"}
    assert found["jailbreak.noul"] > 2 > found["noul"]


def test_a_preset_of_few_answers_is_drawn_to_its_type():
    """S1-14"""
    few = nouls(preset_question("jailbreak"), 3.0, ENOUGH)
    alone = temperatures(few)["jailbreak.noul"]
    drawn = temperatures([*few, *nouls(FREE, 1.0)])
    assert drawn["noul"] < drawn["jailbreak.noul"] < max(alone, 2.9)


def test_answers_without_doubt_and_wrong_have_a_finite_loss():
    """S1-14"""
    sure = [
        (Asked("any", FREE, False), NoulAnswer(1.0)),
        (Asked("any", FREE, True), NoulAnswer(0.0)),
    ]
    assert np.isfinite(temperatures(sure)["noul"])


@given(
    st.lists(PROBABILITIES, max_size=30),
    st.lists(PROBABILITIES, min_size=1, max_size=60),
    st.sampled_from([0.0, 0.02, 0.08, 0.5]),
)
def test_at_most_the_stated_share_of_negatives_reaches_a_threshold(positive, negative, share):
    """S1-14: ties and all"""
    found = threshold(positive, negative, share)
    assert sum(p >= found for p in negative) <= share * len(negative)
    assert 0 < found <= 1


def test_a_threshold_is_no_higher_than_it_has_to_be():
    """S1-14: midway to the next probability"""
    negative = [i / 100 for i in range(100)]
    assert threshold([0.999], negative, 0.1) == pytest.approx(0.895)
    assert threshold([0.95, 0.99], [0.1, 0.3], 0.0) == pytest.approx(0.625)
    assert threshold([], [0.5], 0.0) == pytest.approx(0.75)


def test_the_temperature_of_spans_is_the_best_of_those_tried():
    """S1-14: at which three of four spans of 3/4 are exact"""
    asked = Asked("pii", preset_question("pii"), tuple(("AGE", i, i + 1) for i in range(3)))

    def answers_at(temperature):
        p = {0.7: 0.95, 1.0: 0.9, 1.4: 0.76, 2.0: 0.4, 2.8: 0.1}[temperature]
        return [(asked, SpanAnswer(tuple(Span("AGE", i, i + 1, "x", p) for i in range(4))))]

    assert span_temperature(answers_at) == 1.4


def test_probabilities_are_told_apart_by_their_truth():
    """S1-14"""
    given = [
        (Asked("harm", FREE, True), NoulAnswer(0.9)),
        (Asked("harm", FREE, False), NoulAnswer(0.2)),
        (Asked("other", FREE, True), NoulAnswer(0.5)),
        (Asked("harm", SET, frozenset()), SetAnswer((), ())),
    ]
    assert by_truth(given, "harm") == {True: [0.9], False: [0.2]}
