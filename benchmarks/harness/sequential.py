"""System One calls over one keep-alive connection, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from http.client import HTTPConnection
from time import perf_counter

import orjson

from benchmarks.harness.calls import Call, Calls
from models.questions.types import JsonValue

PATH = "/v1/systemone"


def over_one_connection(port: int, contents: Calls, calls: Iterable[Call]) -> list[float]:
    """Milliseconds of each call, from its first byte to the last of the response read.

    Making a body and checking a response are no part of them. ``RuntimeError`` for a response
    that does not answer the call.
    """
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    try:
        connection.connect()
        for call in calls:
            body = contents.body(call)
            started = perf_counter()
            connection.request("POST", PATH, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
            times.append((perf_counter() - started) * 1e3)
            if response.status != 200:
                raise RuntimeError(f"{PATH} answers {response.status}: {content[:200]!r}")
            check(orjson.loads(content), call)
    finally:
        connection.close()
    return times


def check(response: JsonValue, call: Call) -> None:
    """``RuntimeError`` unless the model read exactly the call's tokens and answered everything."""
    tokens = response["usage"]["input_tokens"]
    if tokens != call.tokens:
        raise RuntimeError(f"a state of {call.tokens} tokens has {tokens}")
    answers = response["answers"].values()
    if len(answers) != len(call.questions) or any(answer["type"] == "error" for answer in answers):
        raise RuntimeError(f"{len(call.questions)} questions, not all answered: {response}")
