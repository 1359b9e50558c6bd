"""Failures on the wire (API-11, S1-9)."""

from __future__ import annotations

import orjson
import pytest

from serve_app.errors import TABLE, Code, RouterError, WireFormat
from serve_app.wire.errors import error_answer, retry_headers


@pytest.mark.parametrize("code", Code)
def test_every_code_has_its_status_and_shape_in_both_formats(code: Code) -> None:
    """API-11, S1-9"""
    error = RouterError(code, "why", loc=("body", "messages", 0, "content", 1, "text"))
    chat = error_answer(error, WireFormat.CHAT)
    body = orjson.loads(chat.body)["error"]
    assert chat.status == TABLE[code][WireFormat.CHAT].status
    assert set(body) == {"message", "type", "param", "code"}
    assert body["param"] == "messages[0].content[1].text"
    assert body["code"] == (None if code is Code.INVALID_REQUEST else code.value)
    systemone = error_answer(error, WireFormat.SYSTEMONE)
    detail = orjson.loads(systemone.body)["detail"]
    if systemone.status == 422:
        assert detail == [{"loc": list(error.loc), "msg": "why", "type": "validation_error"}]
    else:
        assert set(detail) == {"error_type", "message"}


@pytest.mark.parametrize(
    ("code", "chat", "systemone"),
    [
        (Code.INVALID_REQUEST, 400, 422),
        (Code.INVALID_API_KEY, 401, 401),
        (Code.MODEL_NOT_FOUND, 404, 400),
        (Code.REQUEST_TOO_LARGE, 413, 413),
        (Code.TOO_DEEP, 400, 422),
        (Code.OVERLOADED, 429, 529),
        (Code.GUARD_UNAVAILABLE, 503, 503),
        (Code.PROVIDER_FAILED, 502, 502),
    ],
)
def test_the_table_of_the_page(code: Code, chat: int, systemone: int) -> None:
    """API-11"""
    error = RouterError(code, "why")
    assert error_answer(error, WireFormat.CHAT).status == chat
    assert error_answer(error, WireFormat.SYSTEMONE).status == systemone


@pytest.mark.parametrize(
    ("seconds", "whole", "ms"),
    [
        (None, "1", "1000"),
        (0.0, "1", "1000"),
        (0.0301, "1", "31"),
        (1.25, "2", "1250"),
        (500.0, "60", "60000"),
    ],
)
def test_when_to_ask_again(seconds: float | None, whole: str, ms: str) -> None:
    """S1-9, OVL-10"""
    assert retry_headers(seconds) == {"retry-after": whole, "retry-after-ms": ms}
