"""Calls in turn over one connection, each checked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import orjson
import pytest

from benchmarks.harness.calls import Call, Calls
from benchmarks.harness.sequential import check, over_one_connection
from models.questions.types import JsonValue

CALLS = Calls(1)


class Recording(BaseHTTPRequestHandler):
    """Counts words as tokens, answers every question, and keeps what it was sent."""

    protocol_version = "HTTP/1.1"
    status: ClassVar[int] = 200
    bodies: ClassVar[list[JsonValue]] = []
    connections: ClassVar[set[tuple[str, int]]] = set()

    def do_POST(self) -> None:
        body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append(body)
        self.connections.add(self.client_address)
        content = orjson.dumps(
            {
                "answers": {id: {"type": "noul", "noul": 0.5} for id in body["questions"]},
                "usage": {"input_tokens": len(body["state"].split()), "output_tokens": 0},
            }
        )
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def listening(answer_status: int) -> Iterator[tuple[int, type[Recording]]]:
    class Handler(Recording):
        status = answer_status
        bodies: ClassVar[list[JsonValue]] = []
        connections: ClassVar[set[tuple[str, int]]] = set()

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port, Handler
        finally:
            server.shutdown()
            thread.join()


def test_every_call_is_sent_in_turn_over_one_connection_and_timed() -> None:
    calls = [Call(7, 30, (0, 1, 2)), Call(8, 400, (4,))]
    with listening(200) as (port, handler):
        times = over_one_connection(port, CALLS, calls)
    assert len(times) == 2
    assert min(times) > 0
    assert handler.bodies == [orjson.loads(CALLS.body(call)) for call in calls]
    assert len(handler.connections) == 1


def test_a_refusal_ends_the_measurement() -> None:
    with listening(503) as (port, _), pytest.raises(RuntimeError, match="503"):
        over_one_connection(port, CALLS, [Call(0, 30, (0,))])


NOUL = {"type": "noul", "noul": 0.1}


@pytest.mark.parametrize(
    ("tokens", "answers", "message"),
    [
        (31, {"q0": NOUL, "q1": NOUL}, "a state of 30 tokens has 31"),
        (30, {"q0": NOUL}, "not all answered"),
        (30, {"q0": NOUL, "q1": {"type": "error", "error": "unavailable"}}, "not all answered"),
    ],
)
def test_a_response_that_does_not_answer_the_call_is_refused(
    tokens: int, answers: JsonValue, message: str
) -> None:
    response = {"answers": answers, "usage": {"input_tokens": tokens, "output_tokens": 0}}
    with pytest.raises(RuntimeError, match=message):
        check(response, Call(0, 30, (0, 1)))
