"""Authored labels asked in other words: SRV-19."""

from random import Random

import pytest

from models.embedded.train.batches import Ask
from models.embedded.train.forms import FORMS, reworded
from models.questions.presets import PRESETS, preset_question
from models.questions.types import Option, Question, QuestionType

NOULS = [name for name, form in FORMS.items() if "nouls" in form]
CHOICES = [n for n, form in FORMS.items() if "options" in form and "about" in form]


def forms(ask, count=300):
    rng = Random(5)
    return [reworded(ask, rng) for _ in range(count)]


def test_every_form_belongs_to_a_preset_and_names_its_options():
    """S1-13"""
    assert set(FORMS) <= set(PRESETS)
    for name, form in FORMS.items():
        options = {option.key for option in preset_question(name).options}
        assert set(form.get("options", options)) == options


@pytest.mark.parametrize("name", NOULS)
@pytest.mark.parametrize("truth", [True, False])
def test_a_noul_asked_for_the_opposite_has_the_opposite_truth(name, truth):
    """SRV-19"""
    inverted = {w.removeprefix("! ") for w in FORMS[name]["nouls"] if w.startswith("! ")}
    bare = 0
    for ask in forms(Ask(name, preset_question(name), truth)):
        if ask.question.type is QuestionType.NOUL and not ask.question.options:
            assert ask.truth == (truth != (ask.question.instructions in inverted))
            bare += 1
    assert bare > 50


@pytest.mark.parametrize("name", CHOICES)
def test_the_right_option_is_always_among_those_asked(name):
    """SRV-19"""
    question = preset_question(name)
    for right, option in enumerate(question.options):
        for ask in forms(Ask(name, question, right), 80):
            if ask.question.type is QuestionType.CHOICE:
                asked = ask.question.options[ask.truth]
                names = (option.key, FORMS[name]["options"][option.key][0])
                assert asked.key in names
                assert 2 <= len(ask.question.options) <= len(question.options)


@pytest.mark.parametrize("name", CHOICES)
def test_whether_one_option_holds_is_true_of_the_right_one_alone(name):
    """SRV-19"""
    question = preset_question(name)
    own = FORMS[name]["options"][question.options[1].key][0]
    nouls = [a for a in forms(Ask(name, question, 1)) if a.question.type is QuestionType.NOUL]
    assert {a.truth for a in nouls} == {True, False}
    assert all(a.truth == (own in a.question.instructions) for a in nouls)


def test_a_question_of_no_preset_stays_as_it_is():
    """SRV-19"""
    ask = Ask("free.noul", Question(QuestionType.NOUL, "Is it so?", (Option("true", "x"),)), True)
    assert reworded(ask, Random(0)) is ask
