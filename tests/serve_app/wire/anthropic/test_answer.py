"""What the router itself says to clients of Messages (API-1, API-5, API-6, API-11)."""

from __future__ import annotations

from typing import Any

import anthropic
import orjson
import pytest
from anthropic.types.shared import ErrorResponse

from serve_app.errors import TABLE, Code, RouterError, WireFormat
from serve_app.wire.anthropic.answer import count_body, error_body, provider_error
from serve_app.wire.errors import error_answer
from tests.serve_app.wire.anthropic import oracle
from tests.serve_app.wire.anthropic.bodies import assistant, body, call, result, user

ERRORS = {
    Code.INVALID_REQUEST: (400, "invalid_request_error"),
    Code.INVALID_API_KEY: (401, "authentication_error"),
    Code.MODEL_NOT_FOUND: (404, "not_found_error"),
    Code.NOT_FOUND: (404, "not_found_error"),
    Code.METHOD_NOT_ALLOWED: (405, "invalid_request_error"),
    Code.REQUEST_TOO_LARGE: (413, "request_too_large"),
    Code.TOO_DEEP: (400, "invalid_request_error"),
    Code.CONTEXT_LENGTH_EXCEEDED: (400, "invalid_request_error"),
    Code.NO_DECISION: (404, "not_found_error"),
    Code.OVERLOADED: (529, "overloaded_error"),
    Code.NOT_READY: (503, "api_error"),
    Code.GUARD_UNAVAILABLE: (503, "api_error"),
    Code.CONTENT_BLOCKED: (403, "permission_error"),
    Code.PROVIDER_FAILED: (502, "api_error"),
    Code.DEADLINE_EXCEEDED: (504, "timeout_error"),
    Code.INTERNAL: (500, "api_error"),
}


@pytest.mark.parametrize("code", Code)
def test_every_code_has_its_status_and_type(code: Code) -> None:
    """API-11"""
    answer = error_answer(RouterError(code, "why"), WireFormat.ANTHROPIC)
    given = orjson.loads(answer.body)
    assert (answer.status, given["error"]["type"]) == ERRORS[code]
    assert given["type"] == "error"
    if given["error"]["type"] != "request_too_large":  # documented, but no type of the SDK's
        ErrorResponse.model_validate(given)
    assert TABLE[code][WireFormat.ANTHROPIC].status == answer.status


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (Code.INVALID_REQUEST, anthropic.BadRequestError),
        (Code.INVALID_API_KEY, anthropic.AuthenticationError),
        (Code.MODEL_NOT_FOUND, anthropic.NotFoundError),
        (Code.REQUEST_TOO_LARGE, anthropic.APIStatusError),
        (Code.CONTENT_BLOCKED, anthropic.PermissionDeniedError),
        (Code.OVERLOADED, anthropic.InternalServerError),
        (Code.INTERNAL, anthropic.InternalServerError),
    ],
)
def test_the_sdk_raises_its_own_error(code: Code, raised: type[anthropic.APIError]) -> None:
    """API-11"""
    answer = error_answer(RouterError(code, "why"), WireFormat.ANTHROPIC)
    client = oracle.client(answer.body, status=answer.status, stream=False)
    with pytest.raises(raised, match="why"):
        client.messages.create(**oracle.ASKED)


def test_a_message_names_its_place_and_a_request_its_id() -> None:
    """API-11"""
    error = RouterError(
        Code.INVALID_REQUEST, "must be a string", loc=("body", "messages", 0, "role")
    )
    assert error_body(error, "req_1") == {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "messages.0.role: must be a string",
        },
        "request_id": "req_1",
    }
    assert "request_id" not in error_body(error)


def test_a_prompt_that_is_too_long_says_so_first() -> None:
    """API-11"""
    error = error_body(RouterError(Code.CONTEXT_LENGTH_EXCEEDED, "9000 tokens"))["error"]
    assert error["message"] == "context_length_exceeded: 9000 tokens"


@pytest.mark.parametrize(
    ("status", "given", "kind", "message"),
    [
        (400, b'{"error": {"message": "bad", "type": "x"}}', "invalid_request_error", "bad"),
        (401, b'{"error": "no key"}', "authentication_error", "no key"),
        (403, b'{"detail": "no"}', "permission_error", "no"),
        (404, b'{"object": "error", "message": "gone"}', "not_found_error", "gone"),
        (422, b'{"detail": [{"loc": []}]}', "invalid_request_error", "status 422"),
        (429, b"slow down", "rate_limit_error", "status 429"),
        (500, b"", "api_error", "status 500"),
        (503, b"null", "api_error", "status 503"),
        (529, b'{"type": "error", "error": "busy"}', "overloaded_error", "busy"),
    ],
)
def test_a_providers_error_comes_in_the_format(
    status: int, given: bytes, kind: str, message: str
) -> None:
    """API-5"""
    answer = orjson.loads(provider_error(status, given))
    ErrorResponse.model_validate(answer)
    assert answer["error"]["type"] == kind
    assert message in answer["error"]["message"]


def test_a_providers_error_of_the_format_is_passed_as_it_is() -> None:
    """API-5"""
    given = b'{"type": "error", "error": {"type": "of_tomorrow", "message": "x"}, "more": 1}'
    assert provider_error(400, given) is given


@pytest.mark.parametrize(
    ("more", "tokens"),
    [
        ({}, 1),
        ({"system": "12345678"}, 3),
        ({"tools": [{"name": "look", "input_schema": {}}]}, 10),
    ],
)
def test_a_count_is_of_everything_that_counts(more: dict[str, Any], tokens: int) -> None:
    """API-6: 4 bytes a token"""
    assert count_body(body(user("1234"), **more)) == {"input_tokens": tokens}


def test_calls_and_results_count() -> None:
    """API-6"""
    given = body(user("1234"), assistant([call("t", a=1)]), user([result("t", "12345")]))
    assert count_body(given) == {"input_tokens": 4}  # 4 + 7 + 5 bytes


def test_the_sdk_reads_a_count() -> None:
    """API-1"""
    client = oracle.client(orjson.dumps(count_body(body(user("1234")))), stream=False)
    count = client.messages.count_tokens(model="auto", messages=[{"role": "user", "content": "x"}])
    assert count.input_tokens == 1
