"""Errors as a client of Responses gets them: API-5, API-11."""

from __future__ import annotations

import json

import openai
import orjson
import pytest
from openai.types.responses import ResponseErrorEvent

from serve_app.errors import TABLE, Code, RouterError, WireFormat
from serve_app.wire.chat.answer import provider_error
from serve_app.wire.errors import error_answer
from serve_app.wire.responses.answer import failure_event
from tests.serve_app.wire.responses.answers import sdk


@pytest.mark.parametrize("code", Code)
def test_errors_are_those_of_chat(code: Code) -> None:
    """API-11"""
    error = RouterError(code, "why", loc=("body", "input", 0, "role"), retry_after_s=2)
    answer = error_answer(error, WireFormat.RESPONSES)
    assert answer == error_answer(error, WireFormat.CHAT)
    assert TABLE[code][WireFormat.RESPONSES] is TABLE[code][WireFormat.CHAT]


def test_the_sdk_reads_an_error() -> None:
    """API-11"""
    error = RouterError(Code.INVALID_REQUEST, "why", loc=("body", "input", 0, "role"))
    answer = error_answer(error, WireFormat.RESPONSES)
    with pytest.raises(openai.BadRequestError) as caught:
        sdk(answer.body, "application/json", 400).responses.create(model="auto", input="x")
    assert caught.value.param == "input[0].role"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b'{"error": {"message": "why"}, "x": 1}', {"message": "why"}),
        (
            b'{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}',
            {"message": "busy", "type": "overloaded_error", "param": None, "code": None},
        ),
        (
            b"<html>",
            {
                "message": "the provider answered with status 502",
                "type": "server_error",
                "param": None,
                "code": "provider_failed",
            },
        ),
    ],
)
def test_a_providers_error_is_in_this_format(body: bytes, error: dict[str, object]) -> None:
    """API-5"""
    assert orjson.loads(provider_error(502, body))["error"] == error


def test_a_providers_error_of_this_format_is_as_it_is() -> None:
    """API-5"""
    body = json.dumps({"error": {"message": "why"}, "extra": 1}).encode()
    assert provider_error(400, body) is body


@pytest.mark.parametrize(
    ("last", "number"),
    [
        (b"", 0),
        (b'data: {"sequence_number":4}\n\ndata: {"sequence_number": 5}\n\n', 6),
        (b'data: {"type":"x"}\n\n', 0),
    ],
)
def test_an_error_in_mid_stream_goes_on_with_the_numbers(last: bytes, number: int) -> None:
    """API-3"""
    error = RouterError(Code.PROVIDER_FAILED, "it broke")
    event, *_ = list(sdk(failure_event(error, last)).responses.create(model="x", stream=True))
    assert isinstance(event, ResponseErrorEvent)
    assert (event.message, event.code, event.sequence_number) == (
        "it broke",
        "provider_failed",
        number,
    )
