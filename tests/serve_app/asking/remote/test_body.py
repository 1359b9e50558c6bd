"""Calls on the wire: S1-10, S1-1."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from models.questions.presets import preset_question
from models.questions.standard import colliding, parse_body
from models.questions.types import Option, Question, QuestionType
from serve_app.asking.call import Entry
from serve_app.asking.remote.body import call_body, question_json
from tests.doubles.questions import KEYS, QUESTIONS

ASKED = st.dictionaries(KEYS, QUESTIONS, min_size=1, max_size=3).filter(lambda q: not colliding(q))


@given(ASKED)
def test_a_standard_request_is_read_back_as_the_questions_it_was_made_of(asked):
    """S1-10, S1-5"""
    body = call_body({"1": Entry({"a": ["text"]}, asked)}, "jev-latest", batch=False)
    parsed = parse_body(body)
    assert (parsed.model, parsed.batch) == ("jev-latest", False)
    (request,) = parsed.requests.values()
    assert dict(request.questions) == asked
    assert body["state"] == {"a": ["text"]}


@given(st.dictionaries(KEYS, ASKED, min_size=1, max_size=3))
def test_a_batch_is_read_back_under_the_names_of_its_entries(asked):
    """S1-10: of one entry as well, and without a state at the top."""
    entries = {name: Entry(name, questions) for name, questions in asked.items()}
    body = call_body(entries, "m", batch=True)
    assert body.keys() == {"model", "states"}
    parsed = parse_body(body)
    assert parsed.batch
    assert {name: (r.state, dict(r.questions)) for name, r in parsed.requests.items()} == {
        name: (name, questions) for name, questions in asked.items()
    }


def test_questions_go_out_whole_and_with_nothing_a_strict_server_refuses():
    """S1-5, CACHE-3: neither preset nor threshold."""
    question = replace(preset_question("pii"), threshold=0.3)
    raw = question_json(question)
    assert raw.keys() == {"type", "instructions", "criteria"}
    assert raw["type"] == "span"
    assert raw["instructions"] == question.instructions
    assert list(raw["criteria"]) == [option.key for option in question.options]


def test_options_have_the_form_that_every_server_reads():
    """S1-1, S1-10"""
    two = (Option("a", "first"), Option("b"))
    levels = (Option("0", "low"), Option("1", "high"))
    assert question_json(Question(QuestionType.NOUL, "Is it?")) == {
        "type": "noul",
        "instructions": "Is it?",
    }
    assert question_json(Question(QuestionType.NOUL, "", (Option("true", "yes"),))) == {
        "type": "noul",
        "criteria": {"true": "yes"},
    }
    assert question_json(Question(QuestionType.CHOICE, "Which?", two)) == {
        "type": "choice",
        "instructions": "Which?",
        "criteria": {"a": "first", "b": None},
    }
    assert question_json(Question(QuestionType.SCORE, "How?", levels)) == {
        "type": "score",
        "instructions": "How?",
        "criteria": ["low", "high"],
    }
    assert question_json(Question(QuestionType.SET, "", two)) == {
        "type": "set",
        "criteria": {"a": "first", "b": None},
    }
