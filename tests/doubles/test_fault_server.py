"""The fault server does what it says: seen by another client than the router's, or by none."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from jevcompat.client import Response, parse_json
from jevcompat.validate import validate_success

from serve_app.config.loading import load_text
from tests.doubles.fault_server import FaultServer
from tests.doubles.faults.answers import answers
from tests.doubles.faults.asking import HEALTHY, Api, document
from tests.doubles.faults.bodies import bodies
from tests.doubles.faults.connections import HUGE, INFLATED, SURPLUS
from tests.doubles.faults.refusals import CHOICE, GUARD, SCORE, refusals
from tests.doubles.faults.table import FAULTS, UNREACHABLE
from tests.doubles.faults.typed_answers import typed_answers

CLIENT = httpx.Client(timeout=10, limits=httpx.Limits(max_keepalive_connections=0))
"""Opens a connection for every call."""

STANDARD_TYPES: dict[str, Any] = {
    GUARD: {"type": "noul", "instructions": "Is it?"},
    CHOICE: {"type": "choice", "criteria": {"Law": "Rights", "crème": None, "other": "Else"}},
    SCORE: {"type": "score", "criteria": ["none", "some", "all"]},
}
QUESTIONS = {
    **STANDARD_TYPES,
    "traits": {"type": "set", "labels": ["polite", "urgent"]},
    "personal": {"type": "span", "labels": ["PERSON"]},
}
STANDARD = {"model": "m", "state": {"request": "Hello"}, "questions": QUESTIONS}
BATCH = {
    "model": "m",
    "states": {
        "1": {"state": {"request": "Hello"}, "questions": QUESTIONS},
        "2": {"state": {"request": "Good morning"}, "questions": QUESTIONS},
    },
}


@pytest.fixture(scope="module")
def running() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def server(running: FaultServer) -> FaultServer:
    running.forget()
    return running


def post(server: FaultServer, fault: str, body: Any = STANDARD, **more: Any) -> httpx.Response:
    return CLIENT.post(server.endpoint(fault), json=body, **more)


def exact(value: Any) -> str:
    """JSON text, which tells false from 0 and NaN from nothing."""
    return json.dumps(value)


def raw(server: FaultServer, fault: str, until: int = 2**30) -> bytes:
    """What comes back on a bare socket until it closes, or ``until`` bytes came."""
    url = urlsplit(server.endpoint(fault))
    assert url.hostname
    assert url.port
    content = json.dumps(STANDARD).encode()
    received = b""
    with socket.create_connection((url.hostname, url.port), timeout=10) as connection:
        head = f"POST {url.path} HTTP/1.1\r\nContent-Length: {len(content)}\r\n\r\n"
        connection.sendall(head.encode() + content)
        while len(received) < until and (piece := connection.recv(65536)):
            received += piece
    return received


def test_every_fault_is_told_in_one_line() -> None:
    for name, fault in FAULTS.items():
        assert fault.name == name
        assert fault.does
        assert "\n" not in fault.does
        assert not fault.does.endswith(".")


def test_right_answers_conform_to_the_public_suite(server: FaultServer) -> None:
    """By its own reading of an answer, without set and span, which it does not know."""
    body = {**STANDARD, "questions": STANDARD_TYPES}
    given = post(server, "none", body)
    data, error, nonfinite = parse_json(given.content)
    response = Response(200, dict(given.headers), given.content, 0.0, data, error, nonfinite)
    assert validate_success(body, response) == []


def test_right_answers_follow_from_state_and_question_alone(server: FaultServer) -> None:
    """S1-4, S1-10: a batch answers each entry as the standard request it is."""
    both = post(server, "none", BATCH).json()["states"]
    for name, entry in BATCH["states"].items():
        alone = post(server, "none", {"model": "m", **entry}).json()
        assert {k: v for k, v in alone.items() if k != "model"} == both[name]
    assert both["1"]["answers"] != both["2"]["answers"]
    renamed = post(server, "none", {**STANDARD, "questions": {"x": QUESTIONS[CHOICE]}}).json()
    assert renamed["answers"]["x"] == both["1"]["answers"][CHOICE]


def test_calls_are_counted_and_kept_by_fault(server: FaultServer) -> None:
    post(server, "none", headers={"authorization": "Bearer k"})
    post(server, "529", BATCH)
    assert (server.calls("none"), server.calls("529"), server.calls("500")) == (1, 1, 0)
    (received,) = server.received("none")
    assert (received.body, received.headers["authorization"]) == (STANDARD, "Bearer k")
    server.forget()
    assert server.calls("none") == 0


@pytest.mark.parametrize("fault", [*answers.faults, *typed_answers.faults])
@pytest.mark.parametrize("body", [STANDARD, BATCH], ids=["standard", "batch"])
def test_an_answer_is_spoilt_in_the_first_entry_alone(
    server: FaultServer, fault: str, body: Any
) -> None:
    given, right = (post(server, name, body) for name in (fault, "none"))
    assert given.status_code == 200
    spoilt, whole = given.json(), right.json()
    assert exact(spoilt) != exact(whole)
    if body is BATCH:
        assert spoilt["states"].keys() == {"1", "2"}
        assert exact(spoilt["states"]["2"]) == exact(whole["states"]["2"])


@pytest.mark.parametrize("fault", refusals.faults)
def test_a_refusal_is_one_and_names_what_it_says(server: FaultServer, fault: str) -> None:
    for body in (STANDARD, BATCH):
        given = post(server, fault, body)
        assert given.status_code in (400, 422)
        assert given.json().keys() <= {"detail", "error"}
    without = {**STANDARD, "questions": {"personal": QUESTIONS["personal"]}}
    always = {
        *("names-everything", "endless-namer", "names-unasked", "names-unknown-entry"),
        *("names-nothing", "names-nothing-text", "names-oddly", "names-then-nothing"),
        "names-every-entry-then-others",
    }
    then = {"names-then-500": 500, "names-every-entry-then-500": 500, "names-then-529": 529}
    if fault == "names-then-hangs":
        with pytest.raises(httpx.ReadTimeout):
            CLIENT.post(server.endpoint(fault), json=without, timeout=0.1)
    else:
        usual = 422 if fault in always else 200
        assert post(server, fault, without).status_code == then.get(fault, usual)


@pytest.mark.parametrize("fault", bodies.faults)
def test_a_body_comes_whole_whatever_it_is(server: FaultServer, fault: str) -> None:
    given = post(server, fault)
    number = fault.removeprefix("redirect-").partition("-")[0]
    if number.isdigit():
        assert given.status_code == int(number)
    else:
        assert given.status_code == (204 if fault == "no-content" else 200)
    assert ("location" in given.headers) == fault.startswith("redirect-")


TIMES_OUT = ("slow-headers", "slow-body", "hang")
BREAKS = {
    "close": httpx.RemoteProtocolError,
    "half-headers": httpx.RemoteProtocolError,
    "half-body": httpx.RemoteProtocolError,
    "long-length": httpx.RemoteProtocolError,
    "broken-chunks": httpx.RemoteProtocolError,
    "bad-chunks": httpx.RemoteProtocolError,
    "not-http": httpx.RemoteProtocolError,
    "huge-headers": httpx.RemoteProtocolError,
    "reset": httpx.ReadError,
    "refused": httpx.ConnectError,
    "no-tls": httpx.ConnectError,
    "closed-at-once": httpx.TransportError,
}


@pytest.mark.parametrize("fault", TIMES_OUT)
def test_silence_outlasts_a_client(server: FaultServer, fault: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        CLIENT.post(server.endpoint(fault), json=STANDARD, timeout=0.1)


@pytest.mark.parametrize("fault", BREAKS)
def test_a_connection_breaks_as_it_should(server: FaultServer, fault: str) -> None:
    with pytest.raises(BREAKS[fault]):
        post(server, fault)
    assert server.calls(fault) == (0 if fault == "refused" else 1)


def test_every_broken_connection_is_tested() -> None:
    elsewhere = {
        *("none", "slow-drip", "drip-headers", "early-hints", "huge-body", "endless-chunks"),
        *("huge-error", "gzip-bomb", "answers-twice", "close-kept"),
    }
    tested = elsewhere | {*TIMES_OUT} | BREAKS.keys()
    tables = (answers, typed_answers, refusals, bodies)
    others = {name for table in tables for name in table.faults}
    assert tested == (FAULTS.keys() - others) | UNREACHABLE.keys()


@pytest.mark.parametrize("fault", ["slow-drip", "drip-headers", "early-hints"])
def test_a_drip_is_never_silent(server: FaultServer, fault: str) -> None:
    """No read of it times out, and no end of it comes soon."""
    received = raw(server, fault, until=60 if fault == "early-hints" else 20)
    assert received.startswith(b"HTTP/1.1 103" if fault == "early-hints" else b"HTTP/1.1 200")


@pytest.mark.parametrize("fault", ["huge-body", "endless-chunks", "huge-error"])
def test_what_a_client_took_of_a_huge_body_is_known(server: FaultServer, fault: str) -> None:
    with CLIENT.stream("POST", server.endpoint(fault), json=STANDARD) as response:
        size = len(next(response.iter_raw()))
    (received,) = server.received(fault)
    assert 0 < size < HUGE
    assert received.sent < HUGE


def test_a_small_body_inflates_to_a_huge_one(server: FaultServer) -> None:
    with CLIENT.stream("POST", server.endpoint("gzip-bomb"), json=STANDARD) as response:
        assert response.headers["content-encoding"] == "gzip"
        inflated = 0
        for piece in response.iter_bytes():
            inflated += len(piece)
    assert inflated > INFLATED
    assert server.received("gzip-bomb")[0].sent < INFLATED / 100


def test_a_second_answer_follows_the_first(server: FaultServer) -> None:
    received = raw(server, "answers-twice", until=1500)
    first, second = received.split(b"HTTP/1.1 200 OK")[1:]
    assert str(SURPLUS).encode() in second
    assert str(SURPLUS).encode() not in first


def test_a_kept_connection_is_closed_within_its_second_call(server: FaultServer) -> None:
    with httpx.Client(timeout=10) as client:
        assert client.post(server.endpoint("close-kept"), json=STANDARD).status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            client.post(server.endpoint("close-kept"), json=STANDARD)
    assert server.calls("close-kept") == 2


def test_a_server_ends_though_clients_hang_on_it() -> None:
    with FaultServer() as server:
        endpoint = server.endpoint("hang")
        with pytest.raises(httpx.ReadTimeout):
            CLIENT.post(endpoint, json=STANDARD, timeout=0.1)
    with pytest.raises(httpx.ConnectError):
        CLIENT.post(endpoint, json=STANDARD)


def test_one_configuration_asks_many_faults() -> None:
    """For a router that runs: it loads, and has two recipes for each."""
    apis = {name: Api(f"http://127.0.0.1:9/{name}") for name in ("none", "529", "reset")}
    known = document(apis, "http://127.0.0.1:9/healthy", "http://127.0.0.1:9/v1")
    loaded = load_text(json.dumps(known), "faults", cards={}, environ={"FAULTY_KEY": "k"})
    assert loaded.warnings == ()
    assert [recipe.name for recipe in loaded.config.recipes][:2] == ["none-standard", "none-batch"]
    assert loaded.config.global_.model_catalog.remote.keys() == {*apis, HEALTHY}
