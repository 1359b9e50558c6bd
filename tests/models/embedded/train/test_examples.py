"""Authored items as questions with truths: SRV-19, S1-15."""

import json

import pytest

from models.embedded.train.examples import example_of, item_key, read_items, rendered
from models.questions.types import QuestionType


def asked(item):
    return {a.name: a for a in example_of("00", item).asked}


def test_marks_are_taken_out_and_stand_where_they_stood():
    """S1-15: in code points of the rendered state"""
    item = {
        "state": {"note": "😀 [[TITLE|Dr]] [[PERSON|Ana Ruiz]]", "tel": "[[PHONE_NUMBER|555]]"},
        "ask": {"pii": True},
    }
    example = example_of("00", item)
    assert example.state == "note: 😀 Dr Ana Ruiz\ntel: 555"
    (pii,) = example.asked
    assert [(label, example.state[a:b]) for label, a, b in pii.truth] == [
        ("TITLE", "Dr"),
        ("PERSON", "Ana Ruiz"),
        ("PHONE_NUMBER", "555"),
    ]


def test_what_a_context_does_not_carry_has_one_label():
    """S1-15"""
    text, spans = rendered({"answer": "On [[Sundays]]", "context": "Mondays"}, labelled=False)
    assert [(label, text[a:b]) for label, a, b in spans] == [("unsupported", "Sundays")]


def test_labels_of_presets_are_indices_and_sets():
    """S1-13"""
    found = asked(
        {
            "state": "x",
            "ask": {"domain": "business", "jailbreak": False, "harm": ["hate", "violence"]},
        }
    )
    assert found["domain"].truth == 1
    assert found["jailbreak"].truth is False
    assert found["harm"].truth is True
    keys = [option.key for option in found["harm.set"].question.options]
    assert {keys[i] for i in found["harm.set"].truth} == {"hate", "violence"}


def test_the_right_tool_is_among_those_of_the_item():
    """S1-13"""
    tools = {"a": None, "b": "Sends mail."}
    found = asked({"state": {"request": "mail"}, "tools": tools, "ask": {"tool_rank": "b"}})
    assert found["tool_rank"].truth == 1
    assert [option.text for option in found["tool_rank"].question.options] == [None, "Sends mail."]


def test_free_questions_have_truths_by_type():
    """S1-1"""
    questions = [
        {"type": "noul", "instructions": "?", "answer": True},
        {"type": "choice", "instructions": "?", "criteria": ["a", "b"], "answer": "b"},
        {"type": "score", "instructions": "?", "criteria": ["lo", "hi"], "answer": 1},
        {"type": "set", "instructions": "?", "criteria": {"p": "1", "q": "2"}, "answer": ["q"]},
        {"type": "span", "instructions": "?", "criteria": {"n": "1"}, "answer": [["n", "it"]]},
    ]
    example = example_of("00", {"state": "it or it", "questions": questions})
    assert [a.truth for a in example.asked] == [
        True,
        1,
        1,
        frozenset({1}),
        (("n", 0, 2), ("n", 6, 8)),
    ]
    assert example.asked[4].question.type is QuestionType.SPAN


def test_a_label_that_fits_no_question_is_an_error():
    """SRV-19"""
    with pytest.raises(ValueError, match="geology"):
        example_of("00", {"state": "x", "ask": {"domain": "geology"}})


def test_an_items_key_is_that_of_its_state():
    """SRV-19: whatever its labels"""
    assert item_key({"state": {"a": "1", "b": "2"}}) == item_key(
        {"state": {"b": "2", "a": "1"}, "ask": {"harm": []}}
    )


def items_of(tmp_path, line):
    path = tmp_path / "00.jsonl"
    path.write_text(json.dumps(line) + "\n", "utf-8")
    return list(read_items(path))


def test_a_line_of_several_answers_is_as_many_items(tmp_path):
    """SRV-19: each with its own label, and with the name of the text that they are"""
    line = {
        "state": {"request": "two words", "answer": "Hello there"},
        "variants": ["Hello", "Hi you"],
        "ask": {"answer_check": [True, False, True], "harm": []},
    }
    items = items_of(tmp_path, line)
    assert [item["state"]["answer"] for item in items] == ["Hello there", "Hello", "Hi you"]
    assert [item["ask"]["answer_check"] for item in items] == [True, False, True]
    assert [item["ask"]["harm"] for item in items] == [[], [], []]
    assert {item["of"] for item in items} == {item_key(items[0])}
    assert len({item_key(item) for item in items}) == 3


def test_what_varies_of_a_state_is_its_answer_else_its_candidate_else_its_request(tmp_path):
    """SRV-19"""
    for state in ({"request": "a", "answer": "b"}, {"request": "a", "candidate": "b"}):
        (_, varied) = items_of(tmp_path, {"state": state, "variants": ["c"]})
        assert varied["state"] == {**state, [*state][1]: "c"}
    (_, varied) = items_of(tmp_path, {"state": {"request": "a"}, "variants": ["c"]})
    assert varied["state"] == {"request": "c"}
    (_, varied) = items_of(tmp_path, {"state": {"request": "a"}, "variants": [{"request": "c"}]})
    assert varied["state"] == {"request": "c"}
    (_, varied) = items_of(tmp_path, {"state": "a", "variants": ["c"]})
    assert varied["state"] == "c"


def test_a_question_about_variants_has_an_answer_for_each(tmp_path):
    """SRV-19"""
    question = {"type": "noul", "instructions": "Late?", "answers": [True, False]}
    items = items_of(tmp_path, {"state": "a", "variants": ["b"], "questions": [question]})
    assert [item["questions"] for item in items] == [
        [{"type": "noul", "instructions": "Late?", "answer": answer}] for answer in (True, False)
    ]
    assert [example_of("00", item).asked[0].truth for item in items] == [True, False]
