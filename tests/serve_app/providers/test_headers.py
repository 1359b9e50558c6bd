"""What crosses a provider call (API-7)."""

from __future__ import annotations

import pytest

from serve_app.config.schema.providers import ApiFormat
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


@pytest.mark.parametrize("api_format", ["openai", "responses", "anthropic"])
def test_what_is_of_one_format_goes_along_with_its_bodies_alone(api_format: ApiFormat) -> None:
    """API-7"""
    given = {"anthropic-beta": "a", "openai-project": "b", "x-stainless-lang": "c", "x-team": "d"}
    assert given.items() <= to_provider(given, None, api_format).items()
    written = to_provider(given, None, api_format, relayed=False)
    assert [name for name in given if name in written] == ["x-team"]
    assert ("anthropic-version" in written) == (api_format == "anthropic")


@pytest.mark.parametrize(
    ("api_format", "key", "names"),
    [
        ("openai", "sk-ant-api", {"authorization"}),
        ("responses", "sk-proj", {"authorization"}),
        ("anthropic", "sk-ant-api", {"x-api-key"}),
        ("anthropic", "sk-ant-oat01", {"authorization"}),
        ("anthropic", "of-a-server", {"authorization", "x-api-key"}),
    ],
)
def test_a_key_stands_where_its_kind_is_read(
    api_format: ApiFormat, key: str, names: set[str]
) -> None:
    """CFG-2"""
    sent = to_provider({"x-api-key": "of-the-client"}, key, api_format)
    assert {name for name, value in sent.items() if key in value} == names
    assert "of-the-client" not in sent.values()


def test_what_tells_of_a_body_that_is_written_anew_stays_behind() -> None:
    """API-1"""
    received = [("Content-Type", "a"), ("Content-Encoding", "gzip"), ("ETag", "x"), ("X-A", "1")]
    assert to_client(received, relayed=False) == {"content-type": "a", "x-a": "1"}


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
