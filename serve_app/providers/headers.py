"""Which headers cross a provider call, and which do not (API-7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from serve_app.config.schema.providers import ApiFormat
from serve_app.credentials import is_credential
from serve_app.providers.formats import ANTHROPIC_VERSION, is_of_a_format, key_headers

_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""RFC 9110, section 7.6.1."""

_OWN: Final = frozenset({"host", "content-length", "content-type", "content-encoding", "expect"})
"""What the router writes itself, for the body that it writes."""

_ABOUT_THE_CLIENT: Final = frozenset({"forwarded", "x-real-ip", "via"})
_PREFIXES: Final = ("x-vsr-", "x-forwarded-", "x-typesafe-", "x-request-timeout", "accept-encoding")

_OF_THE_BODY: Final = frozenset({"digest", "repr-digest", "etag", "last-modified"})
_KEPT_BY_THE_ROUTER: Final = frozenset({"content-length", "date", "server", "set-cookie"})


def to_provider(
    headers: Mapping[str, str],
    api_key: str | None,
    api_format: ApiFormat = "openai",
    *,
    relayed: bool = True,
) -> dict[str, str]:
    """A client's headers, in lower case, as the provider gets them: nothing of the connection,
    no credential, no ``x-vsr-*``, and no value that a strict sender refuses. Answers are asked
    for uncompressed: they are relayed raw. ``relayed``: the body is the client's own, and what it
    says to its format's API goes along.
    """
    per_connection = _named_by_connection(headers.get("connection", ""))
    sent = {
        name: value
        for name, value in headers.items()
        if name not in _HOP_BY_HOP
        and name not in _OWN
        and name not in _ABOUT_THE_CLIENT
        and name not in per_connection
        and not name.startswith(_PREFIXES)
        and not is_credential(name)
        and value.isprintable()
        and (relayed or not is_of_a_format(name))
    }
    sent["content-type"] = "application/json"
    sent["accept-encoding"] = "identity"
    if api_format == "anthropic":
        sent.setdefault("anthropic-version", ANTHROPIC_VERSION)
    return sent | key_headers(api_format, api_key) if api_key else sent


def to_client(headers: Iterable[tuple[str, str]], *, relayed: bool = True) -> dict[str, str]:
    """A provider's headers as the client gets them. ``relayed``: with its body as it is, so with
    what they say of that."""
    received = {name.lower(): value for name, value in headers}
    per_connection = _named_by_connection(received.get("connection", ""))
    return {
        name: value
        for name, value in received.items()
        if name not in _HOP_BY_HOP
        and name not in _KEPT_BY_THE_ROUTER
        and name not in per_connection
        and not name.startswith(("x-vsr-", "x-typesafe-"))
        and (relayed or not _is_of_the_body(name))
    }


def _is_of_the_body(name: str) -> bool:
    # Its type stays: by it an answer is known as a stream.
    return (name.startswith("content-") and name != "content-type") or name in _OF_THE_BODY


def _named_by_connection(value: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in value.split(","))
