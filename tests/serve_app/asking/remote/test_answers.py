"""What a remote answers, valid or not: S1-3, S1-11, S1-12, MRG-7, UNK-1."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jevcompat.mock import MockConfig, respond, validate_request

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.asking.call import Entry
from serve_app.asking.remote.answers import MALFORMED, read_answers
from serve_app.asking.remote.body import call_body
from serve_app.asking.validation import validated
from tests.doubles.json_values import JSON
from tests.doubles.questions import questions

TEXT = "Ann is in Ulm 🙂 now"
LABELS = (Option("GPE"), Option("PERSON"))
NOUL = Question(QuestionType.NOUL, "Is it?")
CHOICE = Question(QuestionType.CHOICE, "Which?", (Option("a"), Option("B"), Option("c")))
SCORE = Question(QuestionType.SCORE, "How?", (Option("0", "x"), Option("1", "y"), Option("2", "z")))
SET = Question(QuestionType.SET, "Which?", LABELS)
SPAN = Question(QuestionType.SPAN, "Where?", LABELS)

A_NOUL = {"type": "noul", "noul": 0.5}
A_CHOICE = {
    "type": "choice",
    "choice": "B",
    "probabilities": {"a": 0.25, "B": 0.5, "c": 0.25},
    "confidence": 0.25,
}
A_SCORE = {
    "type": "score",
    "score": 1.25,
    "legend": {"0": "x", "1": "y", "2": "z"},
    "probabilities": {"0": 0.25, "1": 0.25, "2": 0.5},
    "confidence": 0.1,
}
A_SPAN = {"label": "GPE", "start": 10, "end": 13, "text": "Ulm", "probability": 0.75}
NOT_PROBABILITIES = [True, False, "0.5", None, -0.01, 1.01, math.nan, math.inf, 10**400, [], {}]


def read(question: Question, body: Any, state: Any = TEXT) -> Answer:
    entries = {"1": Entry(state, {"q": question})}
    return read_answers(entries, body, batch=False).answers["1"]["q"]


def answer(question: Question, raw: Any, **beside: Any) -> Answer:
    return read(question, {"answers": {"q": raw}, **beside})


def without(raw: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key != name}


def test_answers_of_every_type_are_read():
    """S1-3, S1-11"""
    assert answer(NOUL, A_NOUL) == NoulAnswer(0.5)
    assert answer(CHOICE, A_CHOICE) == ChoiceAnswer(("a", "B", "c"), (0.25, 0.5, 0.25))
    assert answer(SCORE, A_SCORE) == ScoreAnswer(("x", "y", "z"), (0.25, 0.25, 0.5))
    sets = {"q": {"selected": ["GPE"], "probabilities": {"PERSON": 0.5, "GPE": 0.75}}}
    assert read(SET, {"sets": sets}) == SetAnswer(("GPE", "PERSON"), (0.75, 0.5))
    assert answer(SPAN, A_NOUL, spans={"q": [A_SPAN]}) == SpanAnswer(
        (Span("GPE", 10, 13, "Ulm", 0.75),)
    )
    assert answer(SPAN, {"type": "noul", "noul": 0}, spans={"q": []}) == SpanAnswer(())


@pytest.mark.parametrize(
    ("question", "raw"),
    [(NOUL, A_NOUL), (CHOICE, A_CHOICE), (SCORE, A_SCORE)],
    ids=["noul", "choice", "score"],
)
@pytest.mark.parametrize(
    "type", [None, "boolean", "NOUL", 3, True, ["noul"], {}, "set", "span", "error"]
)
def test_an_answer_of_no_or_another_type_is_malformed(question, raw, type):
    """S1-3, UNK-1"""
    assert answer(question, raw | {"type": type}) == MALFORMED
    assert answer(question, without(raw, "type")) == MALFORMED


@pytest.mark.parametrize(
    ("question", "raw"),
    [(NOUL, A_NOUL), (CHOICE, A_CHOICE), (SCORE, A_SCORE)],
    ids=["noul", "choice", "score"],
)
def test_a_confidence_may_be_absent_or_null_and_never_impossible(question, raw):
    """S1-3"""
    good = answer(question, raw)
    assert not isinstance(good, ErrorAnswer)
    assert answer(question, without(raw, "confidence")) == good
    for value in (None, 0, 1, 0.5):
        assert answer(question, raw | {"confidence": value}) == good
    for value in NOT_PROBABILITIES:
        if value is not None:
            assert answer(question, raw | {"confidence": value}) == MALFORMED


@pytest.mark.parametrize("value", NOT_PROBABILITIES, ids=repr)
def test_what_is_no_probability_is_malformed_wherever_it_stands(value):
    """UNK-1"""
    assert answer(NOUL, {"type": "noul", "noul": value}) == MALFORMED
    mixed = A_CHOICE["probabilities"] | {"c": value}
    assert answer(CHOICE, A_CHOICE | {"probabilities": mixed}) == MALFORMED
    mixed = A_SCORE["probabilities"] | {"0": value}
    assert answer(SCORE, A_SCORE | {"probabilities": mixed}) == MALFORMED
    probabilities = {"GPE": 0.5, "PERSON": value}
    assert read(SET, {"sets": {"q": {"probabilities": probabilities}}}) == MALFORMED
    nouls = {"q.GPE": A_NOUL, "q.PERSON": {"type": "noul", "noul": value}}
    assert read(SET, {"answers": nouls}) == MALFORMED
    spans = {"q": [A_SPAN | {"probability": value}]}
    assert answer(SPAN, A_NOUL, spans=spans) == MALFORMED
    assert answer(SPAN, {"type": "noul", "noul": value}, spans={"q": [A_SPAN]}) == MALFORMED


@pytest.mark.parametrize(
    "changed",
    [
        {"probabilities": {"a": 0.5, "B": 0.5}},
        {"probabilities": {"a": 0.25, "B": 0.5, "c": 0.25, "d": 0.0}},
        {"probabilities": {"a": 0.25, "b": 0.5, "c": 0.25}},
        {"probabilities": {"a": 0.25, "B": 0.52, "c": 0.25}},
        {"probabilities": {"a": 0.25, "B": 0.5, "c": 0.22}},
        {"probabilities": {"a": 0.0, "B": 0.0, "c": 0.0}},
        {"probabilities": [0.25, 0.5, 0.25]},
        {"probabilities": None},
        {"choice": "a"},
        {"choice": "b"},
        {"choice": None},
        {"choice": ["B"]},
        {"choice": 1},
    ],
    ids=str,
)
def test_a_choice_that_contradicts_its_question_or_itself_is_malformed(changed):
    """S1-3, UNK-1"""
    assert answer(CHOICE, A_CHOICE | changed) == MALFORMED


def test_tied_options_may_all_be_the_choice():
    """S1-3: rounding hides which was more likely."""
    for a, b in ((0.4, 0.4), (0.399, 0.401)):
        raw = A_CHOICE | {"choice": "a", "probabilities": {"a": a, "B": b, "c": 0.2}}
        assert not isinstance(answer(CHOICE, raw), ErrorAnswer)


def test_a_rounded_distribution_is_scaled_to_one():
    """S1-3: within the rounding of 0.005 an option, at least 0.01 and at most 0.05."""
    raw = A_CHOICE | {"probabilities": {"a": 0.33, "B": 0.33, "c": 0.33}}
    read_back = answer(CHOICE, raw)
    assert isinstance(read_back, ChoiceAnswer)
    assert sum(read_back.probabilities) == pytest.approx(1)
    assert validated(CHOICE, read_back) is read_back
    for n, off in ((2, 0.01), (6, 0.03), (40, 0.05)):
        question = Question(QuestionType.CHOICE, "", tuple(Option(str(i)) for i in range(n)))
        for by, fits in ((off - 1e-6, True), (off + 1e-6, False)):
            probabilities = dict.fromkeys(map(str, range(n)), 0.0) | {"0": 0.5, "1": 0.5 - by}
            raw = {"type": "choice", "choice": "0", "probabilities": probabilities}
            assert isinstance(answer(question, raw), ChoiceAnswer) == fits


@pytest.mark.parametrize(
    "changed",
    [
        {"legend": None},
        {"legend": ["x", "y", "z"]},
        {"legend": {"1": "x", "2": "y", "3": "z"}},
        {"legend": {"0": "x", "1": "y"}},
        {"legend": {"0": "x", "1": "y", "2": "z", "3": "w"}},
        {"legend": {"0": "x", "1": "y", "2": "Z"}},
        {"legend": {"0": "x", "1": "y", "2": None}},
        {"legend": {"0": "z", "1": "y", "2": "x"}},
        {"probabilities": {"1": 0.25, "2": 0.25, "3": 0.5}},
        {"probabilities": {"0": 0.5, "1": 0.5}},
        {"probabilities": {"0": 0.2, "1": 0.2, "2": 0.4}},
        {"probabilities": {"x": 0.25, "y": 0.25, "z": 0.5}},
        {"score": 2.0},
        {"score": 1.3},
        {"score": 3.25},
        {"score": -1.25},
        {"score": None},
        {"score": "1.25"},
        {"score": True},
        {"score": math.nan},
        {"score": 10**400},
    ],
    ids=str,
)
def test_a_score_that_contradicts_its_question_or_itself_is_malformed(changed):
    """S1-3, UNK-1"""
    assert answer(SCORE, A_SCORE | changed) == MALFORMED


@pytest.mark.parametrize("name", ["legend", "probabilities", "score"])
def test_a_score_without_one_of_its_members_is_malformed(name):
    """S1-3"""
    assert answer(SCORE, without(A_SCORE, name)) == MALFORMED


def test_a_score_may_be_as_far_off_as_the_rounding_of_its_probabilities():
    """S1-3: 0.02, and of probabilities rounded to two decimals 0.005 (1 + 3) more."""
    assert isinstance(answer(SCORE, A_SCORE | {"score": 1.289}), ScoreAnswer)
    exact = {"0": 0.2512345678, "1": 0.2487654322, "2": 0.5}
    expected = 0.2487654322 + 1
    for by, fits in ((0.019, True), (0.021, False)):
        raw = A_SCORE | {"score": expected + by, "probabilities": exact}
        assert isinstance(answer(SCORE, raw), ScoreAnswer) == fits


def test_a_legend_may_hold_the_structure_a_level_was_rendered_from():
    """S1-1"""
    levels = (Option("0", "kind: a\nsize: 1"), Option("1", "y"))
    question = Question(QuestionType.SCORE, "How?", levels)
    raw = {
        "type": "score",
        "score": 0.5,
        "legend": {"0": {"kind": "a", "size": 1}, "1": "y"},
        "probabilities": {"0": 0.5, "1": 0.5},
    }
    assert answer(question, raw) == ScoreAnswer(("kind: a\nsize: 1", "y"), (0.5, 0.5))
    raw["legend"] = {"0": {"kind": "a", "size": 2}, "1": "y"}
    assert answer(question, raw) == MALFORMED


BOTH = {"q.GPE": {"type": "noul", "noul": 0.75}, "q.PERSON": {"type": "noul", "noul": 0.25}}
PROBABILITIES = {"GPE": 0.75, "PERSON": 0.25}


def test_a_set_is_read_from_its_labels_or_from_sets_and_from_both_where_they_agree():
    """S1-11"""
    whole = SetAnswer(("GPE", "PERSON"), (0.75, 0.25))
    sets = {"q": {"probabilities": PROBABILITIES}}
    rounded = BOTH | {"q.GPE": {"type": "noul", "noul": 0.752}}
    for body in (
        {"answers": BOTH},
        {"answers": BOTH, "sets": None},
        {"answers": BOTH, "sets": {"other": {}}},
        {"sets": sets},
        {"answers": BOTH, "sets": sets},
        {"answers": {"q.GPE": BOTH["q.GPE"]}, "sets": sets},
        {"answers": rounded, "sets": sets},
    ):
        assert read(SET, body) == whole


@pytest.mark.parametrize(
    "body",
    [
        {"answers": without(BOTH, "q.GPE")},
        {"answers": BOTH | {"q.GPE": {"type": "choice", "noul": 0.75}}},
        {"answers": BOTH | {"q.GPE": 0.75}},
        {"answers": BOTH, "sets": {"q": {"probabilities": {"GPE": 0.7, "PERSON": 0.25}}}},
        {"sets": {"q": {"probabilities": {"GPE": 0.75}}}},
        {"sets": {"q": {"probabilities": PROBABILITIES | {"AGE": 0.1}}}},
        {"sets": {"q": {"probabilities": {"gpe": 0.75, "PERSON": 0.25}}}},
        {"sets": {"q": {"probabilities": [0.75, 0.25]}}},
        {"answers": BOTH, "sets": {"q": {"selected": ["GPE"]}}},
        {"answers": BOTH, "sets": {"q": []}},
        {"answers": BOTH, "sets": []},
        {"answers": {"q": A_NOUL}},
        {},
    ],
    ids=str,
)
def test_a_set_that_is_not_whole_or_contradicts_itself_is_malformed(body):
    """S1-11, UNK-1"""
    assert read(SET, body) == MALFORMED


@pytest.mark.parametrize(
    "changed",
    [
        {"label": "AGE"},
        {"label": None},
        {"start": -3, "end": 0},
        {"start": 13, "end": 13},
        {"start": 13, "end": 10},
        {"start": 10.0},
        {"start": False, "end": 3, "text": "Ann"},
        {"start": 0, "end": True, "text": "A"},
        {"end": 10**30},
        {"end": len(TEXT) + 1, "text": TEXT[10:] + "x"},
        {"text": "Ulm "},
        {"text": "Bonn"[:3]},
        {"text": None},
        {"start": 11, "end": 14},
    ],
    ids=str,
)
def test_a_span_that_is_not_where_it_says_is_malformed(changed):
    """S1-11, UNK-1: the other spans of the answer too."""
    spans = {"q": [A_SPAN, A_SPAN | changed]}
    assert answer(SPAN, A_NOUL, spans=spans) == MALFORMED


def test_spans_count_code_points_of_the_rendered_state():
    """S1-11, S1-1: an emoji is one."""
    late = {"label": "PERSON", "start": 16, "end": 19, "text": "now", "probability": 0.5}
    body = {"answers": {"q": A_NOUL}, "spans": {"q": [late]}}
    for state in (TEXT, {"request": TEXT}):
        assert read(SPAN, body, state) == SpanAnswer((Span("PERSON", 16, 19, "now", 0.5),))
    utf16 = late | {"start": 17, "end": 20}
    assert read(SPAN, body | {"spans": {"q": [utf16]}}) == MALFORMED


@pytest.mark.parametrize(
    "spans", [None, {}, {"q": None}, {"q": {}}, {"q": [None]}, {"q": [[]]}, []]
)
def test_without_a_list_of_spans_nothing_is_known_of_them(spans):
    """UNK-1"""
    assert answer(SPAN, A_NOUL, spans=spans) == MALFORMED
    assert answer(SPAN, A_NOUL) == MALFORMED
    assert read(SPAN, {"spans": {"q": [A_SPAN]}}) == MALFORMED


def test_no_spans_beside_a_likely_one_is_a_contradiction():
    """UNK-1: what was seen and not placed is not absent."""
    assert answer(SPAN, {"type": "noul", "noul": 0.9}, spans={"q": []}) == MALFORMED
    assert answer(SPAN, {"type": "noul", "noul": 0.4}, spans={"q": []}) == SpanAnswer(())


@pytest.mark.parametrize("question", [NOUL, CHOICE, SCORE, SET, SPAN], ids=lambda q: q.type.value)
def test_an_error_in_the_place_of_an_answer_is_its_reason_alone(question):
    """S1-12, MRG-7: the message may hold input and is not carried on."""
    for error in AnswerError:
        raw = {"type": "error", "error": error.value, "message": "Ann said"}
        assert answer(question, raw) == ErrorAnswer(error)
    valued = {"type": "error", "error": "no such", "noul": 0.5, "probabilities": {}}
    for raw in ({"type": "error", "error": "no such"}, {"error": "Ann said"}, valued):
        assert answer(question, raw) == ErrorAnswer(AnswerError.UNAVAILABLE)
    own = {"type": question.type.value, "error": "invalid_question"}
    assert answer(question, own) == ErrorAnswer(AnswerError.INVALID_QUESTION)
    for raw in ({"type": "error"}, {"type": "error", "error": 3}, {"error": None}):
        assert answer(question, raw) == MALFORMED


def test_an_error_of_one_label_is_the_sets():
    """S1-12"""
    wrong = BOTH | {"q.GPE": {"type": "error", "error": "max_length_exceeded"}}
    assert read(SET, {"answers": wrong}) == ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED)


def test_a_malformed_answer_fails_no_other_question():
    """UNK-1, MRG-7"""
    asked = {"a": NOUL, "b": NOUL, "c": CHOICE, "d": NOUL}
    body = {"answers": {"a": A_NOUL, "b": {"type": "noul", "noul": 7}, "c": A_CHOICE}}
    found = read_answers({"1": Entry(TEXT, asked)}, body, batch=False).answers["1"]
    assert found["a"] == NoulAnswer(0.5)
    assert found["b"] == found["d"] == MALFORMED
    assert isinstance(found["c"], ChoiceAnswer)


def test_what_nobody_asked_harms_nothing():
    """S1-11"""
    body = {
        "model": 7,
        "answers": {"q": A_NOUL | {"x_more": math.nan}, "more": 3, "": None},
        "usage": "none",
        "states": [],
        "latency_ms": {},
    }
    assert read(NOUL, body) == NoulAnswer(0.5)


@pytest.mark.parametrize(
    "body", [None, [], "text", 3, True, {}, {"answers": None}, {"answers": []}, {"answers": 1.5}]
)
def test_an_answer_of_another_form_answers_nothing(body):
    """UNK-1"""
    for batch in (False, True):
        found = read_answers({"1": Entry(TEXT, {"q": NOUL, "r": SPAN})}, body, batch=batch)
        assert found.answers == {"1": {"q": MALFORMED, "r": MALFORMED}}
        assert found.input_tokens == 0


def test_a_batch_is_answered_by_entry():
    """S1-10: what stands at the top, or under another name, answers no entry."""
    entries = {name: Entry(TEXT, {"q": NOUL}) for name in ("1", "2", "3")}
    part = {"answers": {"q": A_NOUL}}
    body = {"answers": {"q": A_NOUL}, "states": {"2": part, "3": [part], "4": part}}
    found = read_answers(entries, body, batch=True).answers
    assert found == {"1": {"q": MALFORMED}, "2": {"q": NoulAnswer(0.5)}, "3": {"q": MALFORMED}}


@pytest.mark.parametrize(
    ("total", "parts", "tokens"),
    [
        ({"input_tokens": 9}, [{"input_tokens": 3}, {"input_tokens": 4}], 9),
        (None, [{"input_tokens": 3}, {"input_tokens": 4}], 7),
        ({"input_tokens": 9.0}, [{"input_tokens": 3}, None], 3),
        ({"input_tokens": -1}, [{"input_tokens": True}, {"input_tokens": "4"}], 0),
        ({"input_tokens": 10**400}, [{"input_tokens": 2}, {}], 2),
        ([], [], 0),
    ],
)
def test_tokens_are_the_total_else_the_sum_of_the_entries(total, parts, tokens):
    """S1-11: what is no count counts nothing."""
    entries = {name: Entry(TEXT, {"q": NOUL}) for name in ("1", "2")}
    states = {str(i): {"answers": {}, "usage": usage} for i, usage in enumerate(parts, start=1)}
    body = {"usage": total, "states": states}
    assert read_answers(entries, body, batch=True).input_tokens == tokens


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "raw",
    [
        A_SCORE | {"legend": {"0": nested(100_000), "1": "y", "2": "z"}},
        A_SCORE | {"probabilities": nested(100_000)},
        nested(100_000),
    ],
    ids=["legend", "probabilities", "answer"],
)
def test_deep_nesting_is_malformed(raw):
    """UNK-1"""
    assert answer(SCORE, raw) == MALFORMED


NUMBERS = st.sampled_from([0, 1, 0.5, 0.25, True, -1, 2, 10**400, math.nan, math.inf, 0.999])
MEMBERS = ["type", "noul", "choice", "score", "legend", "probabilities", "confidence", "error"]
KEYS = ["0", "1", "2", "a", "B", "c", "GPE", "PERSON", "label", "start", "end", "text"]
NEARLY = st.recursive(
    JSON | NUMBERS,
    lambda inner: st.dictionaries(
        st.sampled_from(MEMBERS + KEYS),
        inner | st.sampled_from([*QuestionType, "error", "GPE", "B", "Ulm"]),
        max_size=5,
    ),
    max_leaves=8,
)
ANSWERS = st.dictionaries(st.sampled_from(["q0", "q1", "q0.GPE", "x"]), NEARLY)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "answers": ANSWERS | NEARLY,
        "sets": ANSWERS | NEARLY,
        "spans": st.dictionaries(st.sampled_from(["q0", "q1"]), st.lists(NEARLY)) | NEARLY,
        "states": st.dictionaries(st.sampled_from(["1", "2"]), ANSWERS | NEARLY) | NEARLY,
        "usage": NEARLY,
    },
)


@given(
    st.lists(
        questions() | st.sampled_from([NOUL, CHOICE, SCORE, SET, SPAN]), min_size=1, max_size=2
    ),
    JSON | BODIES,
    st.booleans(),
)
def test_whatever_a_server_sends_each_question_has_a_valid_answer_or_a_reason(asked, body, batch):
    """UNK-1"""
    entry = Entry(TEXT, {f"q{i}": question for i, question in enumerate(asked)})
    entries = {"1": entry, "2": entry} if batch else {"1": entry}
    found = read_answers(entries, body, batch=batch)
    assert found.answers.keys() == entries.keys()
    assert found.input_tokens >= 0
    for by_id in found.answers.values():
        assert by_id.keys() == entry.questions.keys()
        for id, question in entry.questions.items():
            assert validated(question, by_id[id]) is by_id[id]


ASKED = {
    "is it": Question(QuestionType.NOUL, "Is it urgent?"),
    "which": Question(
        QuestionType.CHOICE, "Whose?", (Option("É", "one"), Option("Ops"), Option("Law", "three"))
    ),
    "how": Question(
        QuestionType.SCORE, "How?", tuple(Option(str(i), f"level {i}") for i in range(4))
    ),
}


def served(fault: str | None) -> dict[str, Answer]:
    """What the reference server of ``jevcompat`` answers, with one fault or none."""
    config = MockConfig(faults=frozenset({fault} if fault else ()))
    body = json.loads(json.dumps(call_body({"1": Entry(TEXT, ASKED)}, "m", batch=False)))
    assert validate_request(body, config) == []
    return dict(
        read_answers({"1": Entry(TEXT, ASKED)}, respond(config, body), batch=False).answers["1"]
    )


@pytest.mark.parametrize(
    ("fault", "failing"),
    [
        (None, set()),
        ("first-question-only", {"which", "how"}),
        ("boolean-type", {"is it"}),
        ("noul-range", {"is it"}),
        ("nfd-keys", {"which"}),
        ("choice-key-case", {"which"}),
        ("choice-sum", {"which"}),
        ("choice-second", {"which"}),
        ("score-no-legend", {"how"}),
        ("legend-1-based", {"how"}),
        ("score-keys-1-based", {"how"}),
        ("score-sum", {"how"}),
        ("score-argmax", {"how"}),
        ("confidence-over", {"which", "how"}),
        ("choice-no-confidence", set()),
        ("confidence-margin", set()),
        ("no-usage", set()),
        ("float-usage", set()),
        ("extra-answer", set()),
        ("nan", set()),
        ("unprefixed-extra", set()),
    ],
)
def test_the_reference_servers_faults_fail_the_questions_they_spoil(fault, failing):
    """S1-3, UNK-1: by the conformance suite's own reference server."""
    found = served(fault)
    assert {id for id, one in found.items() if one == MALFORMED} == failing
    assert all(not isinstance(found[id], ErrorAnswer) for id in found.keys() - failing)
