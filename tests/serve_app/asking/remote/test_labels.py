"""The set or spans that a remote answers: S1-11, S1-12, UNK-1."""

from __future__ import annotations

import pytest

from models.questions.types import (
    AnswerError,
    ErrorAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.asking.remote.answers import MALFORMED
from tests.doubles.remote_answers import (
    A_NOUL,
    A_SPAN,
    SET,
    SPAN,
    TEXT,
    answer,
    read,
    without,
)

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


def test_unlikely_spans_beside_a_likely_one_are_a_contradiction():
    """UNK-1, UNK-3: a guard must not pass what was seen and not placed"""
    likely = {"type": "noul", "noul": 0.97}
    assert answer(SPAN, likely, spans={"q": [A_SPAN | {"probability": 0.01}]}) == MALFORMED
    both = [A_SPAN | {"probability": 0.01}, A_SPAN | {"probability": 0.9}]
    assert isinstance(answer(SPAN, likely, spans={"q": both}), SpanAnswer)


def test_an_error_of_one_label_is_the_sets():
    """S1-12"""
    wrong = BOTH | {"q.GPE": {"type": "error", "error": "max_length_exceeded"}}
    assert read(SET, {"answers": wrong}) == ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED)
