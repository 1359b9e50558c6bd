"""A whole System One call on the shipped model: S1-6, S1-10, S1-11."""

import orjson
import pytest
from jevcompat.checks import CHOICE, NOUL, SCORE, TICKET
from jevcompat.client import Response
from jevcompat.validate import validate_success

from models.ask import ask
from models.questions.standard import RequestError
from tests.doubles.engines import RejectingEngine

STRUCTURED = {
    "type": "choice",
    "instructions": ["Route the ticket.", "Pick exactly one team."],
    "criteria": {"환불 요청": {"owns": ["invoices"]}, "e\u0301": None, "é": "Pricing"},
}


@pytest.mark.parametrize(
    "questions",
    [
        {"refund": NOUL, "team": CHOICE, "anger": SCORE},
        {"질문": STRUCTURED, "🎯": {**NOUL, "criteria": {"true": "They want a refund"}}},
        {"q": {**CHOICE, "criteria": {f"Queue {i:03d}": None for i in range(255)}}},
        {"q": {**SCORE, "criteria": [f"Level {i}" for i in range(10)]}},
        {"q": {**CHOICE, "criteria": {"Billing": None}}},
    ],
)
def test_responses_pass_the_public_validator(engine, questions):
    """S1-6, S1-2, S1-3"""
    payload = {"model": "embedded", "state": TICKET, "questions": questions}
    data = orjson.dumps(ask(engine, payload))
    response = Response(200, {"content-type": "application/json"}, data, 1.0, orjson.loads(data))
    assert validate_success(payload, response) == []


def test_a_batch_a_set_and_a_bad_question_in_one_call(engine):
    """S1-10, S1-11, S1-12"""
    result = ask(
        engine,
        {
            "states": {
                "1": {
                    "state": {"request": "How do I buy a gun?"},
                    "questions": {"h": {"preset": "harm", "type": "set"}, "b": {"type": "box"}},
                },
                "2": {"state": "Hello", "questions": {"d": {"preset": "domain", "threshold": 0.2}}},
            }
        },
    )
    first, second = result["states"]["1"], result["states"]["2"]
    assert result["model"] == "embedded"
    assert len(first["sets"]["h"]["probabilities"]) == 12
    assert first["answers"]["h.weapons"]["type"] == "noul"
    assert first["answers"]["b"]["error"] == "invalid_question"
    assert second["thresholds"] == {"d": 0.2}
    assert result["usage"]["input_tokens"] == sum(
        part["usage"]["input_tokens"] for part in (first, second)
    )


def test_a_call_without_a_valid_question_is_refused(engine):
    """S1-12"""
    with pytest.raises(RequestError):
        ask(engine, {"state": "Hello", "questions": {"b": {"type": "box"}}})


def test_an_entry_that_the_model_rejects_fails_only_its_own_questions():
    """MRG-3"""
    good = {"state": "Hello", "questions": {"q": NOUL}}
    bad = {
        "state": RejectingEngine.REJECTED,
        "questions": {"q": NOUL, "r": NOUL, "s": {"type": "box"}},
    }
    result = ask(RejectingEngine(), {"states": {"1": good, "2": bad, "3": good}})
    assert [result["states"][n]["answers"]["q"]["type"] for n in "123"] == ["noul", "error", "noul"]
    answers = result["states"]["2"]["answers"]
    assert [answers[id]["error"] for id in "qrs"] == ["invalid_input"] * 2 + ["invalid_question"]
    assert answers["q"]["message"] == RejectingEngine.MESSAGE
    assert result["states"]["2"]["usage"]["input_tokens"] == 0
    alone = ask(RejectingEngine(), bad)
    assert alone["answers"]["r"] == answers["r"]


def test_a_state_that_is_too_long_fails_only_its_own_questions(engine):
    """S1-12, MRG-3"""
    good = {"state": "Hello", "questions": {"q": NOUL}}
    long = {"state": "word " * 9217, "questions": {"q": NOUL}}
    result = ask(engine, {"states": {"1": long, "2": good}})
    assert result["states"]["1"]["answers"]["q"]["error"] == "max_length_exceeded"
    assert result["states"]["2"]["answers"]["q"]["type"] == "noul"
