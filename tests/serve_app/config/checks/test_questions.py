"""CFG-4, CFG-5: rules that ask a model."""

from __future__ import annotations

import pytest

from models.questions.types import QuestionType
from tests.doubles.cards import PLAIN, card
from tests.doubles.router_yaml import ROUTER, Mistake, changed, errors, mistake

S = "recipes[0].signals"
D = "recipes[0].decisions"

CASES = [
    ("[math, physics]", "[math, fysics]", f"{S}.domains[0].labels[1]", "no such label", "physics"),
    ("[math, physics]", "[math, math]", f"{S}.domains[0].labels[1]", "label stands twice", None),
    ("[weapons, hate]", "[weapons, hate, spam]", f"{S}.safety[1].labels[2]", "no such label", None),
    ("[EMAIL_ADDRESS, PERSON]", "[EMAIL, PERSON]", f"{S}.pii[0].labels[0]", "no such label", None),
    (
        "[wrong_answer]",
        "[wrong_anser]",
        f"{S}.user_feedbacks[0].labels[0]",
        "no such label",
        "wrong_answer",
    ),
    (
        "deployment: second}]",
        "deployment: secnd}]",
        f"{S}.complexity[0].deployment",
        "no such deployment",
        "second",
    ),
    (
        "type: noul, instr",
        "type: nou, instr",
        f"{S}.systemone[0].question.type",
        "known values",
        "noul",
    ),
    (
        "type: noul, instructions: Does this need a tool?",
        "type: noul",
        f"{S}.systemone[0].question",
        "needs instructions",
        None,
    ),
    ("[short, middling, long]", "[long]", f"{S}.systemone[1].question.criteria", "2 to 10", None),
    (
        "labels: [sports, news]",
        "labels: [sports, news], choices: []",
        f"{S}.systemone[3].question.choices",
        "unknown key",
        None,
    ),
    (
        "labels: [city, river]",
        "labels: []",
        f"{S}.systemone[4].question.criteria",
        "1 to 255",
        None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_asks_a_question_that_can_be_asked(case: Mistake) -> None:
    """CFG-4, CFG-5, S1-1, LIM-1"""
    mistake(case)


@pytest.mark.parametrize(
    ("name", "without", "asker"),
    [
        ("pii", QuestionType.SPAN, f"{S}.pii[0]"),
        ("domain", QuestionType.CHOICE, f"{S}.domains[0]"),
        ("harms", QuestionType.SET, f"{S}.safety[1]"),
        ("length", QuestionType.SCORE, f"{S}.systemone[1]"),
        ("attack", QuestionType.NOUL, f"{S}.jailbreak[0]"),
    ],
)
def test_a_rule_asks_what_its_deployments_card_lists(
    name: str, without: QuestionType, asker: str
) -> None:
    """CFG-5, S1-14"""
    found = errors(ROUTER, card=card("partial", without, images=True))
    assert asker in [problem.path for problem in found]
    for problem in found:
        assert f"a {without} question, which partial does not answer" in problem.message
        assert without not in problem.allowed


def test_images_are_read_by_models_that_read_images() -> None:
    """SIG-2"""
    found = [p for p in errors(ROUTER, card=PLAIN) if p.path.endswith("images")]
    assert [(p.path, p.message) for p in found] == [
        (f"{S}.modality[0].input.images", "plain reads text only")
    ]


@pytest.mark.parametrize(
    ("kind", "field", "count"),
    [("choice", "choices", 256), ("set", "labels", 256), ("score", "levels", 11)],
)
def test_questions_beyond_the_limits_are_errors(kind: str, field: str, count: int) -> None:
    """LIM-1"""
    options = ", ".join(f"o{i}" for i in range(count))
    text, line = changed(
        "{type: noul, instructions: Does this need a tool?}",
        f"{{type: {kind}, instructions: Which?, {field}: [{options}]}}",
    )
    assert (f"{S}.systemone[0].question.criteria", line) in [(p.path, p.line) for p in errors(text)]


def test_a_mistaken_rule_is_no_second_mistake_where_it_is_read() -> None:
    """CFG-1"""
    text, _ = changed("labels: [math, physics]", "labels: [maths, physics]")
    text = text.replace("name: subject, label: math}", "name: subject, label: maths}")
    assert [problem.path for problem in errors(text)] == [f"{S}.domains[0].labels[0]"]
    text, _ = changed("levels: [short, middling, long]", "levels: 5")
    assert [problem.path for problem in errors(text)] == [f"{S}.systemone[1].question.levels"]
