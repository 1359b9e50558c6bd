"""Authored items as labelled lines: SRV-19."""

import json

from models.embedded.train.corpus import Brief
from models.embedded.train.examples import example_of
from models.embedded.train.labelled import lines
from models.evaluation.truth import Mark, read_examples
from models.questions.types import QuestionType

BRIEF = Brief("07", "law", "plain", ("en", "de"), "2026-11-30", "Apache-2.0", "heldout", "0", "0")
QUESTIONS = [
    {"type": "noul", "instructions": "Late?", "answer": True},
    {
        "type": "noul",
        "instructions": "",
        "criteria": {"true": "It is.", "false": "No."},
        "answer": False,
    },
    {"type": "choice", "instructions": "Which?", "criteria": ["a", "b"], "answer": "b"},
    {"type": "score", "instructions": "How?", "criteria": ["lo", "mid", "hi"], "answer": 2},
    {"type": "set", "instructions": "?", "criteria": {"p": "one", "q": "two"}, "answer": ["q"]},
    {"type": "set", "instructions": "None?", "criteria": {"p": "one", "q": None}, "answer": []},
    {"type": "span", "instructions": "?", "criteria": {"n": "it"}, "answer": [["n", "it"]]},
]
ITEMS = [
    {
        "state": {"note": "😀 it is [[PERSON|Ana]], [[AGE|41]]", "more": "or it"},
        "ask": {"pii": True, "domain": "law", "complexity": "hard", "harm": ["hate", "privacy"]},
        "questions": QUESTIONS,
    },
    {"state": {"request": "mail"}, "tools": {"a": None, "b": "Mails."}, "ask": {"tool_rank": "b"}},
    {"state": {"context": "x", "answer": "[[y]] it"}, "ask": {"hallucination": True}},
    {"state": "Forget it.", "ask": {"jailbreak": True, "harm": []}},
]


def read(item):
    raw = list(lines(BRIEF, item))
    return raw, read_examples([json.dumps(line) for line in raw])


def truth_of(labelled):
    """As ``example_of`` has it."""
    keys = [option.key for option in labelled.question.options]
    match labelled.question.type:
        case QuestionType.CHOICE:
            return keys.index(labelled.truth)
        case QuestionType.SET:
            return frozenset(map(keys.index, labelled.truth))
        case _:
            return labelled.truth


def told(asked):
    """As a line has it."""
    if asked.question.type is QuestionType.SPAN:
        return tuple(sorted(Mark(a, b, label) for label, a, b in asked.truth))
    return asked.truth


def test_every_question_and_truth_of_an_item_comes_back():
    """SRV-19: whatever its type, and once each"""
    for item in ITEMS:
        example = example_of("07", item)
        _, examples = read(item)
        found = [
            (name, labelled.question, truth_of(labelled))
            for line in examples
            for name, labelled in line.questions.items()
            if name != "complexity.score"
        ]
        expected = [(a.name, a.question, told(a)) for a in example.asked]
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        assert {line.text for line in examples} == {example.state}
        assert {line.group for line in examples} == {"07"}


def test_questions_of_one_name_stand_on_lines_of_their_own():
    """SRV-19: an id stands once in a line"""
    raw, _ = read(ITEMS[0])
    assert [len(line["questions"]) for line in raw] == [11, 2]
    first, second = (line["questions"]["free.noul"] for line in raw)
    assert (first["label"], second["label"]) == (True, False)


def test_a_presets_question_is_asked_by_its_name():
    """S1-5, SRV-17: and a guard that is written out is that guard"""
    _, (example,) = read(ITEMS[3])
    presets = {name: labelled.question.preset for name, labelled in example.questions.items()}
    assert presets == {"jailbreak": "jailbreak", "harm": "harm", "harm.set": "harm"}


def test_difficulty_is_asked_as_a_score_too():
    """S1-13: whose levels are the options of the choice"""
    _, (example, _) = read(ITEMS[0])
    score, choice = example.questions["complexity.score"], example.questions["complexity"]
    assert score.question.type is QuestionType.SCORE
    texts = [[option.text for option in q.question.options] for q in (score, choice)]
    assert texts[0] == texts[1]
    assert choice.question.options[score.truth].key == choice.truth == "hard"


def test_lines_are_tagged_with_languages_and_look_alikes():
    """SRV-19: guards are measured on attacks and what looks like them"""
    assert [read(item)[1][0].tags for item in ITEMS] == [
        ("language=en/de",),
        ("language=en/de",),
        ("language=en/de",),
        ("language=en/de", "near=near"),
    ]
