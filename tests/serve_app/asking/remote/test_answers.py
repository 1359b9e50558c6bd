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
from models.questions.validation import validated
from serve_app.asking.call import Entry
from serve_app.asking.remote.answers import MALFORMED, read_answers
from serve_app.asking.remote.body import call_body
from tests.doubles.json_values import JSON
from tests.doubles.questions import questions
from tests.doubles.remote_answers import (
    A_CHOICE,
    A_NOUL,
    A_SCORE,
    A_SPAN,
    CHOICE,
    NOT_PROBABILITIES,
    NOUL,
    SCORE,
    SET,
    SPAN,
    TEXT,
    answer,
    read,
    without,
)


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
        assert sum(found.tokens.values()) == 0


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
        ({"input_tokens": 7}, [{"input_tokens": 3}, {"input_tokens": 4}], [3, 4]),
        ({"input_tokens": 9}, [{"input_tokens": 3}, {"input_tokens": 4}], [9, 0]),
        ({"input_tokens": 9}, [], [9, 0]),
        (None, [{"input_tokens": 3}, {"input_tokens": 4}], [3, 4]),
        ({"input_tokens": 9.0}, [{"input_tokens": 3}, None], [3, 0]),
        ({"input_tokens": -1}, [{"input_tokens": True}, {"input_tokens": "4"}], [0, 0]),
        ({"input_tokens": 10**400}, [{"input_tokens": 2}, {}], [2, 0]),
        ([], [], [0, 0]),
    ],
)
def test_tokens_are_the_entries_own_and_a_total_without_parts_is_the_first_ones(
    total, parts, tokens
):
    """S1-10, S1-11: what is no count counts nothing."""
    entries = {name: Entry(TEXT, {"q": NOUL}) for name in ("1", "2")}
    states = {str(i): {"answers": {}, "usage": usage} for i, usage in enumerate(parts, start=1)}
    body = {"usage": total, "states": states}
    assert read_answers(entries, body, batch=True).tokens == dict(zip("12", tokens, strict=True))


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
    assert all(tokens >= 0 for tokens in found.tokens.values())
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
