"""Where and with which key a provider of each API format is asked (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from serve_app.config.schema.providers import ApiFormat

PATHS: Final[Mapping[ApiFormat, str]] = {
    "openai": "/chat/completions",
    "responses": "/responses",
    "anthropic": "/messages",
}
"""After a backend's ``base_url``."""

ANTHROPIC_VERSION: Final = "2023-06-01"
"""The version of Messages that the router writes and reads."""

_ANTHROPIC_TOKEN: Final = "sk-ant-oat"
_ANTHROPIC_KEY: Final = "sk-ant-"

_OF_A_FORMAT: Final = ("anthropic-", "openai-", "x-stainless-")
"""Headers by which a client speaks to its format's own API, of versions, betas and accounts."""


def is_of_a_format(header: str) -> bool:
    """``header``: in lower case."""
    return header.startswith(_OF_A_FORMAT)


def key_headers(api_format: ApiFormat, key: str) -> dict[str, str]:
    """Anthropic takes a key as ``x-api-key`` and a token as a bearer's. Of the other servers that
    speak Messages some read the one and some the other, so a key of theirs stands in both.
    """
    bearer = {"authorization": f"Bearer {key}"}
    if api_format != "anthropic" or key.startswith(_ANTHROPIC_TOKEN):
        return bearer
    own = {"x-api-key": key}
    return own if key.startswith(_ANTHROPIC_KEY) else {**bearer, **own}
