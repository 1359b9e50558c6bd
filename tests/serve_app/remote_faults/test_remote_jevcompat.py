"""The public suite's mock, with each of its faults, as the remote API of a request (MRG-4, UNK-1).

Real processes and a real client; beside it an API that is well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from models.questions.types import AnswerError
from serve_app.outcome import Outcome, RuleOutcome, Truth
from tests.doubles.fault_server import FaultServer
from tests.doubles.faults.asking import (
    BLOCKED,
    FAULTY,
    HEALTHY,
    REST,
    STANDARD_TYPES,
    TWO_STATES,
    Api,
)
from tests.doubles.jevcompat_mocks import NAMES, jevcompat_mock
from tests.serve_app.remote_faults.expected_jevcompat import MOCKED
from tests.serve_app.remote_faults.one_request import attempts, by_name, outcome_at, reasons

SECRET = "secret"
OURS = (*STANDARD_TYPES, "personal", "traits")
"""And the types that only this project's API knows."""


@pytest.fixture(scope="module")
def healthy() -> Iterator[str]:
    with FaultServer() as server:
        yield server.endpoint("none")


@pytest.fixture(scope="module")
def right(healthy: str) -> dict[str, RuleOutcome]:
    """The rules at a mock without a fault."""
    with jevcompat_mock(key=SECRET) as endpoint:
        return by_name(asyncio.run(asked(endpoint, healthy)))


async def asked(
    endpoint: str,
    healthy: str,
    names: tuple[str, ...] = STANDARD_TYPES,
    *,
    on_unknown: str | None = None,
    key: str = SECRET,
    model: str = "jev-latest",
) -> Outcome:
    api = Api(endpoint, model=model)
    return await outcome_at(api, healthy, names, on_unknown=on_unknown, key=key)


def test_every_fault_of_the_mock_has_its_expected_outcome() -> None:
    assert MOCKED.keys() == set(NAMES)


def test_a_mock_without_a_fault_answers_every_rule(right: dict[str, RuleOutcome]) -> None:
    assert right.keys() == {*STANDARD_TYPES, "greeting", "facts"}
    assert {rule.verdict for rule in right.values()} == {Truth.FALSE}


@pytest.mark.parametrize("fault", NAMES)
async def test_a_fault_of_the_mock_costs_the_rules_it_reaches_and_no_other(
    healthy: str, right: dict[str, RuleOutcome], fault: str
) -> None:
    """MRG-4, UNK-1, UNK-3: a guard without an answer is a match, or none where it says so."""
    expected = MOCKED[fault]
    with jevcompat_mock(fault, key=SECRET if expected.required else None) as endpoint:
        outcome = await asked(endpoint, healthy)
        opened = await asked(endpoint, healthy, on_unknown="no_match")
    assert reasons(outcome) == reasons(opened) == expected.effect.unknown
    assert attempts(outcome) == {FAULTY: expected.effect.calls, HEALTHY: 1}
    assert (outcome.decision, opened.decision) == (expected.effect.decision, REST)
    for name, rule in by_name(outcome).items():
        if rule.deployment == HEALTHY or not expected.unseen:
            assert rule == right[name] or name in expected.effect.unknown
    changed = [n for n, rule in by_name(outcome).items() if rule.value != right[n].value]
    assert bool(changed) == bool(expected.unseen or expected.effect.unknown)


async def test_types_that_the_mock_does_not_know_cost_no_other(
    healthy: str, right: dict[str, RuleOutcome]
) -> None:
    """MRG-4: it names both at once, and is asked once more without them."""
    with jevcompat_mock(key=SECRET) as endpoint:
        outcome = await asked(endpoint, healthy, OURS)
    invalid = AnswerError.INVALID_QUESTION
    assert reasons(outcome) == {"personal": invalid, "traits": invalid}
    assert attempts(outcome)[FAULTY] == 2
    assert outcome.decision == BLOCKED
    assert {n: by_name(outcome)[n] for n in STANDARD_TYPES} == {n: right[n] for n in STANDARD_TYPES}


@pytest.mark.parametrize("fault", ["validation-400", "text-errors", "500-on-unknown-type"])
async def test_a_refusal_that_names_nothing_costs_everything(healthy: str, fault: str) -> None:
    """MRG-6: nothing is guessed at, and it is asked once."""
    with jevcompat_mock(fault, key=SECRET) as endpoint:
        outcome = await asked(endpoint, healthy, OURS)
    assert reasons(outcome) == dict.fromkeys(OURS, AnswerError.UNAVAILABLE)
    assert attempts(outcome) == {FAULTY: 1, HEALTHY: 1}
    assert outcome.decision == BLOCKED


@pytest.mark.parametrize("faults", [(), ("text-errors",), ("validation-400",)], ids=str)
async def test_an_api_that_knows_no_batch_answers_none(
    healthy: str, faults: tuple[str, ...]
) -> None:
    """MRG-4, MRG-6: a batch stays one, whatever it costs."""
    with jevcompat_mock(*faults, key=SECRET) as endpoint:
        outcome = await asked(endpoint, healthy, TWO_STATES)
    assert reasons(outcome) == dict.fromkeys(TWO_STATES, AnswerError.UNAVAILABLE)
    assert attempts(outcome) == {FAULTY: 1, HEALTHY: 1}


@pytest.mark.parametrize(
    ("fault", "key"),
    [(None, ""), ("auth-plain", ""), (None, "wrong"), ("auth-invalid-403-text", "wrong")],
)
async def test_a_key_that_is_not_taken_costs_everything(
    healthy: str, fault: str | None, key: str
) -> None:
    faults = () if fault is None else (fault,)
    with jevcompat_mock(*faults, key=SECRET) as endpoint:
        outcome = await asked(endpoint, healthy, key=key)
    assert reasons(outcome) == dict.fromkeys(STANDARD_TYPES, AnswerError.UNAVAILABLE)
    assert attempts(outcome)[FAULTY] == 1


@pytest.mark.parametrize("faults", [(), ("error-flat",)], ids=str)
async def test_a_model_that_is_not_known_there_costs_everything(
    healthy: str, faults: tuple[str, ...]
) -> None:
    with jevcompat_mock(*faults, key=SECRET) as endpoint:
        outcome = await asked(endpoint, healthy, model="nobody")
    assert reasons(outcome) == dict.fromkeys(STANDARD_TYPES, AnswerError.UNAVAILABLE)
    assert attempts(outcome)[FAULTY] == 1
