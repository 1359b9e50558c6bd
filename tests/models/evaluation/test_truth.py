"""Labelled lines: SRV-19, S1-13, S1-15."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.truth import DataErrors, Mark, Truth, read_examples
from models.questions.presets import preset_question

DOCUMENT = Path(__file__).parents[3] / "docs" / "evaluation.md"
NOUL = {"type": "noul", "instructions": "Is it?"}
CHOICE = {"type": "choice", "choices": ["a", "b"]}
SCORE = {"type": "score", "levels": ["low", "high"]}
SET = {"type": "set", "labels": ["a", "b"]}
SPAN = {"type": "span", "labels": ["GPE", "PERSON"]}
STATE = "Ann 🙂 met Ann in Ulm"


def line(question: dict[str, Any], label: Any, state: Any = STATE, **beside: Any) -> str:
    return json.dumps({"state": state, "questions": {"q": {**question, "label": label}}, **beside})


def truth(question: dict[str, Any], label: Any, state: Any = STATE) -> Truth:
    (example,) = read_examples([line(question, label, state)])
    return example.questions["q"].truth


def problems(*lines: str | bytes) -> list[str]:
    with pytest.raises(DataErrors) as caught:
        read_examples(lines)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("question", "label", "expected"),
    [
        (NOUL, True, True),
        (CHOICE, "b", "b"),
        (SCORE, 1, 1),
        (SET, ["b"], frozenset({"b"})),
        (SET, [], frozenset()),
        (SPAN, [], ()),
        (SPAN, [{"label": "GPE", "start": 17, "end": 20}], (Mark(17, 20, "GPE"),)),
        (SPAN, [{"label": "GPE", "start": 17, "end": 20, "text": "Ulm"}], (Mark(17, 20, "GPE"),)),
        (SPAN, [["PERSON", "Ann"]], (Mark(0, 3, "PERSON"), Mark(10, 13, "PERSON"))),
    ],
)
def test_a_truth_is_read_by_its_type(question: dict[str, Any], label: Any, expected: Truth) -> None:
    """S1-15: a text marks every occurrence; places count code points."""
    assert truth(question, label) == expected


def test_places_are_in_the_rendered_state() -> None:
    state = {"who": "Ann", "where": "Ulm"}
    assert truth(SPAN, [["GPE", "Ulm"]], state) == (Mark(16, 19, "GPE"),)


def test_occurrences_do_not_lie_over_each_other() -> None:
    assert truth(SPAN, [["GPE", "aa"]], "aaaaa") == (Mark(0, 2, "GPE"), Mark(2, 4, "GPE"))


def test_a_preset_is_a_question() -> None:
    (example,) = read_examples([line({"preset": "jailbreak"}, False)])
    assert example.questions["q"].question == preset_question("jailbreak")
    assert example.questions["q"].question.preset == "jailbreak"


def test_group_and_tags_are_read() -> None:
    given = [
        line(NOUL, True, group="brief-1", tags=["de", "long", "de"]),
        "   ",
        line(NOUL, True, group=2, tags={"language": "de"}),
        line(NOUL, True),
    ]
    examples = read_examples(given)
    assert [(e.line, e.group, e.tags) for e in examples] == [
        (1, "brief-1", ("de", "long")),
        (3, "2", ("language=de",)),
        (4, None, ()),
    ]


@pytest.mark.parametrize(
    ("question", "label", "message"),
    [
        (NOUL, 1, "true or false"),
        (NOUL, None, "true or false"),
        (CHOICE, "c", "'c' is none of the question's: a, b"),
        (CHOICE, 0, "none of the question's"),
        (SCORE, 2, "a level, 0 to 1"),
        (SCORE, True, "a level, 0 to 1"),
        (SET, "a", "list of its labels"),
        (SET, ["x"], "questions.q.label.0"),
        (SPAN, "Ann", "list of spans"),
        (SPAN, [["GPE", "Bonn"]], "does not stand in the state"),
        (SPAN, [["GPE", ""]], "not empty"),
        (SPAN, [["RIVER", "Ulm"]], "questions.q.label.0.0"),
        (SPAN, [{"label": "GPE", "start": 5, "end": 5}], "0 <= start < end <= 20"),
        (SPAN, [{"label": "GPE", "start": 0, "end": 21}], "0 <= start < end <= 20"),
        (SPAN, [{"label": "GPE", "start": 0, "end": 3, "text": "Bob"}], "stands 'Ann'"),
        (SPAN, [7], "{label, start, end}"),
        ({"type": "noul"}, True, "needs instructions"),
        ({"preset": "jailbrake"}, True, "questions.q.preset"),
    ],
)
def test_a_wrong_truth_is_placed(question: dict[str, Any], label: Any, message: str) -> None:
    (said,) = problems(line(question, label))
    assert said.startswith("1: questions.q")
    assert message in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{bad", "no JSON at column 2"),
        ("[]", "a line is an object"),
        ('{"state": "x"}', "questions"),
        ('{"state": 1, "questions": {"q": {}}}', "a state is"),
        ('{"state": "x", "questions": {}}', "at least one"),
        ('{"state": "x", "questions": {"q": {"type": "noul"}}}', "the truth is missing"),
        ('{"state": "x", "question": {}}', "no member of a line"),
        ('{"state": "x", "questions": {"q": 1}}', "a question is an object"),
        ('{"state": "x", "state": "y"}', "'state' stands twice"),
        ('{"state": NaN}', "NaN is no JSON number"),
        ('{"state": ' + "[" * 100_000, "nested too deeply"),
        ('{"state": "\\ud800", "questions": {"q": {}}}', "surrogate"),
        (b'{"state": "\xff"}', "UTF-8"),
        ('{"state": ' + "9" * 5000 + "}", "too many digits"),
        (line(NOUL, True, group=1.5), "group"),
        (line(NOUL, True, tags="de"), "tags"),
        (line(NOUL, True, tags={"language": 1}), "tags"),
    ],
)
def test_a_wrong_line_is_placed(text: str | bytes, message: str) -> None:
    said = problems(line(NOUL, True), text)
    assert len(said) == 1
    assert said[0].startswith("2: ")
    assert message in said[0]


def test_all_that_is_wrong_is_told_at_once() -> None:
    assert len(problems(line(NOUL, 1), "{", line(CHOICE, "x"))) == 3


def test_an_id_has_one_type() -> None:
    """Its answers are counted together."""
    assert problems(line(NOUL, True), line(CHOICE, "a")) == [
        "2: questions.q: a choice, and on line 1 a noul"
    ]


def test_no_label_may_answer_under_the_id_of_another_question() -> None:
    """S1-12: no API could answer both."""
    questions = {"q": {**SET, "label": []}, "q.a": {**NOUL, "label": True}}
    assert "under the id" in problems(json.dumps({"state": "x", "questions": questions}))[0]


def test_no_lines_are_no_data() -> None:
    assert problems("", "\n") == ["1: there is no line"]


@given(st.text(alphabet="ab🙂 ", min_size=1, max_size=30), st.data())
def test_every_marked_text_stands_where_it_is_marked(state: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(state) - 1))
    part = state[start : data.draw(st.integers(start + 1, len(state)))]
    marks = truth(SPAN, [["GPE", part]], state)
    assert isinstance(marks, tuple)
    assert len(marks) == state.count(part)
    assert all(state[mark.start : mark.end] == part for mark in marks)


def test_the_documented_line_is_read() -> None:
    lines = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    (example,) = read_examples(lines)
    assert example.questions["pii"].truth == (Mark(0, 3, "PERSON"), Mark(13, 16, "GPE"))
