"""What crosses a provider call (API-7)."""

from __future__ import annotations

import pytest

from serve_app.providers.headers import to_client, to_provider


@pytest.mark.parametrize(
    "name",
    [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-amz-security-token",
        "cookie",
        "x-vsr-selected-model",
        "x-vsr-timeout-seconds",
        "x-forwarded-for",
        "forwarded",
        "connection",
        "keep-alive",
        "te",
        "transfer-encoding",
        "upgrade",
        "host",
        "content-length",
        "content-encoding",
        "x-hop",
    ],
)
def test_nothing_of_the_connection_and_no_secret_goes_upstream(name: str) -> None:
    """API-7"""
    sent = to_provider({"x-team": "blue", name: "a value", "connection": "close, X-Hop"}, None)
    assert sent == {
        "x-team": "blue",
        "content-type": "application/json",
        "accept-encoding": "identity",
    }


def test_the_key_is_the_routers() -> None:
    """API-7, CFG-2"""
    sent = to_provider({"authorization": "Bearer of-the-client"}, "of-the-router")
    assert sent["authorization"] == "Bearer of-the-router"


def test_a_value_that_cannot_be_sent_stays_behind() -> None:
    """S1-9: a client's odd header is no failure of the provider"""
    assert "x-odd" not in to_provider({"x-odd": "a\x01b"}, None)
    assert to_provider({"x-name": "caf\xe9"}, None)["x-name"] == "caf\xe9"


def test_a_provider_does_not_speak_for_the_router() -> None:
    """API-7, API-8"""
    received = [
        ("Content-Type", "application/json"),
        ("X-Request-Id", "theirs"),
        ("X-VSR-Selected-Model", "forged"),
        ("X-TypeSafe-Request-Id", "forged"),
        ("Set-Cookie", "a=b"),
        ("Content-Length", "7"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "X-Hop"),
        ("X-Hop", "1"),
        ("Date", "now"),
        ("Server", "theirs"),
    ]
    assert to_client(received) == {"content-type": "application/json", "x-request-id": "theirs"}
