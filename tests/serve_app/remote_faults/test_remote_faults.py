"""What a misbehaving remote System One API does to a request: MRG-4 to MRG-7, UNK-1 to UNK-3,
BUD-3. A real HTTP client, a real server on raw sockets, and the whole request stage between them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from models.questions.types import AnswerError
from serve_app.outcome import Outcome, RuleOutcome, Truth
from serve_app.providers.systemone import MAX_ANSWER_BYTES
from tests.doubles.fault_server import FaultServer
from tests.doubles.faults.asking import (
    BLOCKED,
    FAULTY,
    GUARDS,
    HEALTHY,
    ONE_STATE,
    PATIENT_MS,
    REST,
    TWO_STATES,
    Api,
    catalog,
)
from tests.doubles.faults.bodies import ELSEWHERE
from tests.doubles.faults.table import FAULTS, UNREACHABLE
from tests.serve_app.remote_faults.expected import EXPECTED, Effect
from tests.serve_app.remote_faults.one_request import (
    asking,
    attempts,
    by_name,
    outcome_at,
    outcome_of,
    readied,
    reasons,
)

FORMS = {"standard": ONE_STATE, "batch": TWO_STATES}


@pytest.fixture(scope="module")
def running() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def server(running: FaultServer) -> FaultServer:
    """Without the calls of earlier tests."""
    running.forget()
    return running


@pytest.fixture(scope="module")
def right(running: FaultServer) -> dict[str, dict[str, RuleOutcome]]:
    """Form -> the rules where nothing is wrong."""
    url = running.endpoint("none")
    return {
        form: by_name(asyncio.run(outcome_at(Api(url), url, names)))
        for form, names in FORMS.items()
    }


def api(server: FaultServer, fault: str) -> Api:
    return Api(server.endpoint(fault), EXPECTED[fault].timeout_ms)


def test_every_fault_has_its_expected_outcome() -> None:
    assert EXPECTED.keys() == FAULTS.keys() | UNREACHABLE.keys()


async def test_where_nothing_is_wrong_every_rule_has_an_answer(
    server: FaultServer, right: dict[str, dict[str, RuleOutcome]]
) -> None:
    """SIG-3: a call to each deployment."""
    for form, names in FORMS.items():
        assert right[form].keys() == {*names, "greeting", "facts"}
        assert {rule.verdict for rule in right[form].values()} == {Truth.FALSE}
        assert all(rule.value for rule in right[form].values())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", EXPECTED)
async def test_a_fault_costs_the_rules_it_reaches_and_no_other(
    server: FaultServer, right: dict[str, dict[str, RuleOutcome]], fault: str, form: str
) -> None:
    """MRG-4 to MRG-7, UNK-1, UNK-3: a guard without an answer is a match."""
    effect = effect_of(fault, form)
    outcome = await outcome_at(api(server, fault), server.endpoint("none"), FORMS[form])
    assert_unknown(outcome, fault, effect)
    kept = {n: rule for n, rule in by_name(outcome).items() if n not in effect.unknown}
    assert kept == {n: right[form][n] for n in kept}
    if is_late(fault):
        assert server.calls(fault) <= effect.calls
    else:
        assert server.calls(fault) == UNCOUNTED.get(fault, effect.calls)
    assert attempts(outcome)[HEALTHY] == 1
    assert attempts(outcome)[FAULTY] <= 3
    assert outcome.decision == effect.decision
    assert (outcome.fast is not None) == (effect.decision == BLOCKED)
    closed = {rule.name for rule in outcome.rules if rule.failed_closed}
    assert closed == effect.unknown.keys() & set(GUARDS)


UNCOUNTED = {"refused": 0, "none": 2}
"""Calls that reach the server: none where nobody listens; the healthy API is ``none`` too."""


def effect_of(fault: str, form: str) -> Effect:
    return EXPECTED[fault].one if form == "standard" else EXPECTED[fault].two


def is_late(fault: str) -> bool:
    """Whether time ends the call, and not the API."""
    return EXPECTED[fault].timeout_ms < PATIENT_MS


def assert_unknown(outcome: Outcome, fault: str, effect: Effect) -> None:
    """On a busy machine the asker's own bound may pass just before what is known by then comes."""
    possible = [effect.unknown]
    if is_late(fault):
        possible.append(dict.fromkeys(effect.unknown, AnswerError.DEADLINE_EXCEEDED))
    assert reasons(outcome) in possible


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", EXPECTED)
async def test_guards_that_fail_open_let_the_request_go_on(
    server: FaultServer, fault: str, form: str
) -> None:
    """UNK-3"""
    outcome = await outcome_at(
        api(server, fault), server.endpoint("none"), FORMS[form], on_unknown="no_match"
    )
    assert (outcome.decision, outcome.models) == (REST, ("endless",))
    assert_unknown(outcome, fault, effect_of(fault, form))
    assert not any(rule.failed_closed for rule in outcome.rules)


@pytest.mark.parametrize("fault", [name for name in FAULTS if name.startswith("redirect-")])
async def test_a_redirect_takes_the_key_nowhere(server: FaultServer, fault: str) -> None:
    """CFG-3"""
    await outcome_at(api(server, fault), server.endpoint("none"), ONE_STATE)
    assert server.received(fault)[0].headers["authorization"] == "Bearer secret"
    assert server.calls(ELSEWHERE) == 0


@pytest.mark.parametrize("fault", ["huge-body", "endless-chunks", "huge-error"])
async def test_an_answer_without_end_is_read_to_a_limit(server: FaultServer, fault: str) -> None:
    """CFG-3: what lies in the sockets' buffers was sent and not read."""
    await outcome_at(api(server, fault), server.endpoint("none"), ONE_STATE)
    assert server.received(fault)[0].sent < MAX_ANSWER_BYTES + 16 * 1024 * 1024


@pytest.mark.parametrize(
    ("fault", "kept"), [("names-input", ["2"]), ("names-every-entry", ["1", "2"])]
)
async def test_a_batch_stays_one_and_its_entries_keep_their_names(
    server: FaultServer, fault: str, kept: list[str]
) -> None:
    """MRG-4"""
    await outcome_at(api(server, fault), server.endpoint("none"), TWO_STATES)
    first, *others = (received.body for received in server.received(fault))
    assert list(first["states"]) == ["1", "2"]
    for body in others:
        assert list(body["states"]) == kept
        assert "state" not in body
        assert all(body["states"][n]["state"] == first["states"][n]["state"] for n in kept)


async def test_the_whole_asking_has_the_deadline_of_its_first_call(server: FaultServer) -> None:
    """MRG-4: the retry is told what is left, as the API is at every call."""
    fault = "names-then-hangs"
    await outcome_at(api(server, fault), server.endpoint("none"), ONE_STATE)
    first, second = (
        float(received.headers["x-vsr-timeout-seconds"]) for received in server.received(fault)
    )
    assert 0 < second <= first <= EXPECTED[fault].timeout_ms / 1000


@pytest.mark.parametrize("fault", ["answers-twice", "close-kept"])
async def test_a_used_connection_gives_no_request_anothers_answer(
    server: FaultServer, right: dict[str, dict[str, RuleOutcome]], fault: str
) -> None:
    """UNK-1: bytes behind an answer answer nothing, and a connection that was closed costs
    nothing."""
    known = catalog({FAULTY: api(server, fault)}, server.endpoint("none"))
    ready = readied(known, ONE_STATE)
    async with asking(known, {}) as ask:
        for _ in range(3):
            assert by_name(await outcome_of(ready, ask)) == right["standard"]
