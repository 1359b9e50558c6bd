"""A whole System One call on the shipped model: S1-6, S1-10, S1-11."""

import orjson
import pytest
from jevcompat.checks import CHOICE, NOUL, SCORE, TICKET
from jevcompat.client import Response
from jevcompat.validate import validate_success

from models.ask import ask
from models.questions.standard import RequestError

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
