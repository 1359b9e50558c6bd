"""The frozen encoder's cosines as an engine: SRV-19."""

import pytest

from models.cards.shipped import shipped_card
from models.embedded.train.baseline import BaselineEngine
from models.engine import Row, answer
from models.questions.presets import preset_question
from models.questions.types import Option, Question, QuestionType, SpanAnswer

SUBJECTS = Question(
    QuestionType.CHOICE,
    "What is it about?",
    (Option("ships", "ships and harbours"), Option("soup", "cooking soup"), Option("tax", "taxes")),
)
SHIPS = "The ferry left the harbour of Rotterdam with two tugs."
SOUP = "Let the onions simmer in the broth and season to taste."


@pytest.fixture(scope="module")
def baseline() -> BaselineEngine:
    return BaselineEngine(shipped_card("embedded"))


def ask(baseline, *states: str, question: Question = SUBJECTS):
    return [given for (given,) in answer(baseline, [Row(state, (question,)) for state in states])]


def test_two_plain_texts_are_told_apart(baseline):
    """SRV-19: it is no straw man"""
    ships, soup = ask(baseline, SHIPS, SOUP)
    assert (ships.choice, soup.choice) == ("ships", "soup")
    noul = Question(QuestionType.NOUL, "It is about ships.")
    first, second = ask(baseline, SHIPS, SOUP, question=noul)
    assert first.probability > second.probability


def test_the_order_of_options_changes_nothing(baseline):
    """S1-4"""
    turned = Question(SUBJECTS.type, SUBJECTS.instructions, SUBJECTS.options[::-1])
    (first,), (second,) = ask(baseline, SHIPS), ask(baseline, SHIPS, question=turned)
    assert first.probabilities == pytest.approx(second.probabilities[::-1], abs=1e-6)


def test_a_text_is_answered_the_same_alone_and_beside_others(baseline):
    """SRV-12"""
    states = [SHIPS, SOUP, SHIPS * 30, ""]
    for one, state in zip(ask(baseline, *states), states, strict=True):
        (alone,) = ask(baseline, state)
        assert one.probabilities == pytest.approx(alone.probabilities, abs=1e-6)


def test_it_finds_no_spans(baseline):
    """S1-15: cosines of whole texts tell none"""
    assert ask(baseline, "Anna, 41", question=preset_question("pii")) == [SpanAnswer(())]
