"""The presets: S1-13, JDG-1, JDG-2, SEL-1, CFG-4."""

import pytest

from models.questions.limits import OPTION_LIMITS
from models.questions.presets import PRESETS, PRESETS_VERSION, preset_question
from models.questions.types import QuestionType

ASKED_WITH_OPTIONS = {"tool_rank", "selector"}
LABELS = {
    "domain": "biology, business, chemistry, computer science, economics, engineering, health, "
    "history, law, math, philosophy, physics, psychology, other",
    "pii": "AGE, CREDIT_CARD, DATE_TIME, DOMAIN_NAME, EMAIL_ADDRESS, GPE, IBAN_CODE, IP_ADDRESS, "
    "NRP, ORGANIZATION, PERSON, PHONE_NUMBER, STREET_ADDRESS, TITLE, US_DRIVER_LICENSE, US_SSN, "
    "ZIP_CODE",
    "complexity": "easy, medium, hard",
    "modality": "text, image, both",
    "user_feedback": "satisfied, need_clarification, wrong_answer, want_different, none",
    "turn_relation": "new_topic, follow_up, correction, clarification, repeat",
}
HARMS = (
    "violence, criminal_activity, sexual_content, child_exploitation, hate, harassment, "
    "regulated_substances, weapons, self_harm, privacy, specialized_advice, misinformation"
)


def test_every_preset_is_there_in_its_type():
    """S1-13"""
    types = {name: next(iter(forms)) for name, forms in PRESETS.items()}
    nouls = {name for name, kind in types.items() if kind is QuestionType.NOUL}
    assert nouls == {
        "same_request",
        "relevance",
        "tool_need",
        "answer_check",
        "refusal",
        "jailbreak",
        "harm",
        "fact_check",
    }
    assert {n for n, kind in types.items() if kind is QuestionType.SPAN} == {"pii", "hallucination"}
    assert {n for n, kind in types.items() if kind is QuestionType.CHOICE} == {
        "domain",
        "complexity",
        "modality",
        "user_feedback",
        "turn_relation",
        "tool_rank",
        "selector",
    }
    assert PRESETS_VERSION >= 1


@pytest.mark.parametrize("name", LABELS)
def test_the_labels_are_those_of_the_specification(name):
    """S1-13, CFG-4"""
    assert [option.key for option in preset_question(name).options] == LABELS[name].split(", ")


def test_harm_is_a_noul_and_a_set_of_twelve():
    """S1-13"""
    labels = [option.key for option in preset_question("harm", QuestionType.SET).options]
    assert labels == HARMS.split(", ")
    assert list(PRESETS["harm"]) == [QuestionType.NOUL, QuestionType.SET]


def test_the_texts_given_by_the_source_are_verbatim():
    """JDG-1, JDG-2, SEL-1"""
    assert preset_question("same_request").instructions == (
        "Does the candidate request ask for the same thing as the request, "
        "so that one answer serves both?"
    )
    assert preset_question("relevance").instructions == (
        "Does the candidate passage contain information that helps answer the request?"
    )
    assert preset_question("selector").instructions == "Which model should answer this request?"


def test_every_preset_can_be_asked_and_describes_its_options():
    """S1-13, LIM-1"""
    for name, forms in PRESETS.items():
        for kind, question in forms.items():
            assert question.preset == name
            assert question.type is kind
            assert question.instructions
            if name in ASKED_WITH_OPTIONS:
                assert not question.options
                continue
            low, high = OPTION_LIMITS[kind]
            assert low <= len(question.options) <= high
            assert all(option.text for option in question.options)
