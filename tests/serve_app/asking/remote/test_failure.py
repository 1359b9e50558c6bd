"""What a remote's failure names, and why: MRG-7."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import AnswerError, Question, QuestionType
from serve_app.asking.call import Entry
from serve_app.asking.remote.exchange import RemoteAnswer
from serve_app.asking.remote.failure import Failure, Named, read_failure
from tests.doubles.json_values import JSON

NOUL = Question(QuestionType.NOUL, "Is it?")
ONE = {"1": Entry("text", {"a": NOUL, "b": NOUL})}
TWO = {"1": Entry("text", {"a": NOUL, "b": NOUL}), "2": Entry("more", {"a": NOUL, "c": NOUL})}

INVALID_QUESTION = AnswerError.INVALID_QUESTION
INVALID_INPUT = AnswerError.INVALID_INPUT
TOO_LONG = AnswerError.MAX_LENGTH_EXCEEDED
UNAVAILABLE = AnswerError.UNAVAILABLE


def read(status: int, body: Any, *, batch: bool = True, after: float | None = None) -> Failure:
    return read_failure(RemoteAnswer(status, body, after), TWO if batch else ONE, batch=batch)


def named(status: int, body: Any, *, batch: bool = True) -> list[tuple[Any, ...]]:
    failure = read(status, body, batch=batch)
    return [(one.entry, one.question, one.reason) for one in failure.named]


def detail(*locs: Any, type: Any = "value_error") -> dict[str, Any]:
    return {"detail": [{"loc": loc, "msg": "no", "type": type} for loc in locs]}


@pytest.mark.parametrize(
    ("loc", "place"),
    [
        (["body", "states", "2", "questions", "a"], ("2", "a")),
        (["body", "states", "2", "questions", "c", "criteria", 0], ("2", "c")),
        (["body", "questions", "a"], (None, "a")),
        (["body", "questions", "c", "choice", "criteria"], (None, "c")),
        (["body", "states", "2"], ("2", None)),
        (["body", "states", "2", "state"], ("2", None)),
        (["body", "states", "2", "state", "messages", 0], ("2", None)),
    ],
)
def test_the_location_of_a_batch_names_entry_and_question(loc, place):
    """MRG-7"""
    reason = INVALID_INPUT if place[1] is None else INVALID_QUESTION
    assert named(422, detail(loc)) == [(*place, reason)]


@pytest.mark.parametrize(
    ("loc", "place"),
    [
        (["body", "questions", "b"], ("1", "b")),
        (["body", "questions", "b", "instructions"], ("1", "b")),
        (["body", "state"], ("1", None)),
        (["body", "state", "request"], ("1", None)),
    ],
)
def test_a_standard_requests_entry_is_meant_where_none_is_named(loc, place):
    """MRG-7"""
    reason = INVALID_INPUT if place[1] is None else INVALID_QUESTION
    assert named(422, detail(loc), batch=False) == [(*place, reason)]


@pytest.mark.parametrize(
    "loc",
    [
        ["body"],
        ["body", "states"],
        ["body", "states", "3"],
        ["body", "states", "3", "questions", "a"],
        ["body", "states", "2", "questions"],
        ["body", "states", "2", "questions", "b"],
        ["body", "states", "2", "questions", 0],
        ["body", "states", 2],
        ["body", "states", "2", "more"],
        ["body", "questions"],
        ["body", "questions", "d"],
        ["body", "questions", ["a"]],
        ["body", "state"],
        ["query", "questions", "a"],
        ["questions", "a"],
        "body",
        {"body": "questions"},
        None,
        [],
    ],
    ids=str,
)
def test_what_was_not_asked_of_a_batch_is_not_named(loc):
    """MRG-6, MRG-7"""
    assert named(422, detail(loc)) == []


@pytest.mark.parametrize(
    "loc",
    [
        ["body", "questions", "c"],
        ["body", "states", "1"],
        ["body", "states", "1", "state"],
        ["body", "states", "1", "questions", "a"],
    ],
    ids=str,
)
def test_what_was_not_asked_of_a_standard_request_is_not_named(loc):
    """MRG-7: it has no names of entries."""
    assert named(422, detail(loc), batch=False) == []


@pytest.mark.parametrize(
    ("error", "places"),
    [
        ({"state": "2", "question": "a"}, [("2", "a")]),
        ({"question": "a"}, [(None, "a")]),
        ({"state": None, "question": "a"}, [(None, "a")]),
        ({"state": 2, "question": "a"}, [(None, "a")]),
        ({"state": "2"}, [("2", None)]),
        ({"state": "3", "question": "a"}, []),
        ({"state": "2", "question": "b"}, []),
        ({"question": "d"}, []),
        ({"question": ["a"]}, []),
        ({}, []),
        ("a", []),
        (None, []),
    ],
    ids=str,
)
def test_an_error_object_names_entry_and_question(error, places):
    """MRG-7"""
    assert [(e, q) for e, q, _ in named(400, {"error": error})] == places


def test_a_standard_requests_error_object_names_its_question():
    """MRG-7"""
    assert named(400, {"error": {"question": "a"}}, batch=False) == [("1", "a", INVALID_QUESTION)]
    elsewhere = {"error": {"state": "text", "question": "a"}}
    assert named(400, elsewhere, batch=False) == [("1", "a", INVALID_QUESTION)]
    assert named(400, {"error": {"state": "1"}}, batch=False) == []


def test_several_details_name_several_things_each_once():
    """MRG-7"""
    a, b = ["body", "states", "1", "questions", "a"], ["body", "states", "2", "questions", "c"]
    both = detail(a, [*a, "criteria"], ["body"], b)
    assert [(e, q) for e, q, _ in named(422, both)] == [("1", "a"), ("2", "c")]


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (422, "invalid_question", INVALID_QUESTION),
        (400, "invalid_input", INVALID_INPUT),
        (413, "max_length_exceeded", TOO_LONG),
        (500, "invalid_model_output", AnswerError.INVALID_MODEL_OUTPUT),
        (504, "deadline_exceeded", AnswerError.DEADLINE_EXCEEDED),
        (422, "string_type", INVALID_QUESTION),
        (422, None, INVALID_QUESTION),
        (422, 3, INVALID_QUESTION),
        (422, ["invalid_input"], INVALID_QUESTION),
        (422, "overloaded", INVALID_QUESTION),
        (500, "boom", UNAVAILABLE),
        (502, None, UNAVAILABLE),
    ],
)
def test_a_named_questions_reason_is_the_errors_code_else_of_its_status(status, code, reason):
    """MRG-4, MRG-7"""
    loc = ["body", "states", "1", "questions", "a"]
    assert named(status, detail(loc, type=code)) == [("1", "a", reason)]
    for name in ("code", "type"):
        error = {"state": "1", "question": "a", name: code}
        assert named(status, {"error": error}) == [("1", "a", reason)]


def test_rejected_input_rejects_its_entry():
    """MRG-4: and where the entry is not named, the question alone can be."""
    assert Named("1", "a", INVALID_INPUT).rejects_entry
    assert Named("1", None, TOO_LONG).rejects_entry
    assert not Named("1", "a", TOO_LONG).rejects_entry
    assert not Named(None, "a", INVALID_INPUT).rejects_entry


NAMES = detail(["body", "states", "1", "questions", "a"]) | {
    "error": {"code": "invalid_question", "state": "1", "question": "a"}
}


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (529, NAMES, AnswerError.OVERLOADED),
        (529, None, AnswerError.OVERLOADED),
        (429, {"error": {"code": "overloaded"}}, AnswerError.OVERLOADED),
        (429, {"error": {"type": "overloaded", "question": "a"}}, AnswerError.OVERLOADED),
        (429, {"detail": {"error_type": "overloaded"}}, AnswerError.OVERLOADED),
        (429, {"error_type": "overloaded"}, AnswerError.OVERLOADED),
        (429, NAMES, UNAVAILABLE),
        (429, {"error": {"code": "rate_limit"}}, UNAVAILABLE),
        (429, {"error": "overloaded"}, UNAVAILABLE),
        (429, None, UNAVAILABLE),
        (503, NAMES, AnswerError.NOT_READY),
        (503, {"error": {"code": "overloaded"}}, AnswerError.NOT_READY),
        (302, NAMES, UNAVAILABLE),
        (204, NAMES, UNAVAILABLE),
        (101, None, UNAVAILABLE),
    ],
)
def test_a_server_that_cannot_answer_names_nothing(status, body, reason):
    """MRG-7: 529 and 429 with the code ``overloaded`` are overload, 503 is not ready."""
    failure = read(status, body, after=2.5)
    assert failure.reason is reason
    assert failure.named == ()
    assert failure.retry_after_s == (2.5 if reason is AnswerError.OVERLOADED else None)


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, {"detail": {"error_type": "authentication_error", "message": "m"}}, UNAVAILABLE),
        (403, None, UNAVAILABLE),
        (404, {"detail": "Not Found"}, UNAVAILABLE),
        (400, {"detail": {"error_type": "api_usage_error", "message": "model"}}, UNAVAILABLE),
        (422, detail(["body", "model"]), UNAVAILABLE),
        (500, "<html>", UNAVAILABLE),
        (500, {"error": {"code": "overloaded"}}, UNAVAILABLE),
        (413, None, TOO_LONG),
        (413, {"detail": {"error_type": "too_large", "message": "m"}}, TOO_LONG),
        (400, {"error": {"code": "max_length_exceeded"}}, TOO_LONG),
        (400, {"error": {"code": 3, "type": "invalid_input"}}, INVALID_INPUT),
        (400, {"detail": {"error_type": "invalid_input"}}, INVALID_INPUT),
        (422, detail(["body"], type="invalid_question"), INVALID_QUESTION),
        (504, {"error_type": "deadline_exceeded"}, AnswerError.DEADLINE_EXCEEDED),
    ],
)
def test_a_failure_that_names_nothing_has_a_reason_of_ours_or_is_unavailable(status, body, reason):
    """MRG-6"""
    for batch in (False, True):
        failure = read(status, body, batch=batch, after=1.0)
        assert (failure.reason, failure.named, failure.retry_after_s) == (reason, (), None)


PARTS = st.sampled_from(["body", "states", "state", "questions", "1", "2", "a", "b", "c"]) | JSON
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "error": JSON | st.dictionaries(st.sampled_from(["state", "question", "code"]), PARTS),
        "detail": JSON
        | st.lists(
            st.fixed_dictionaries(
                {"loc": JSON | st.lists(PARTS, max_size=6)}, optional={"type": PARTS}
            )
            | JSON
        ),
        "error_type": PARTS,
    },
)


@given(st.integers(201, 599), JSON | BODIES | st.just(math.nan), st.booleans())
def test_whatever_a_failure_holds_it_names_only_what_was_asked(status, body, batch):
    """MRG-7"""
    failure = read(status, body, batch=batch)
    entries = TWO if batch else ONE
    for one in failure.named:
        if one.entry is None:
            assert any(one.question in entry.questions for entry in entries.values())
        else:
            assert one.question is None or one.question in entries[one.entry].questions
        assert batch or one.entry == "1"
