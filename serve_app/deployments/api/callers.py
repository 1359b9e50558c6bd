"""Who calls, told by the API key alone (API-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest

from serve_app.config.schema.catalog import Caller
from serve_app.deployments.rollout.policy import PolicyError
from serve_app.errors import Code, RouterError


class Callers:
    """``callers`` of the configuration; ``None``: everybody is anonymous, whatever they send.

    A key that ``env`` lacks is a ``PolicyError``: an empty key would admit everybody.
    """

    def __init__(self, callers: Sequence[Caller] | None, env: Mapping[str, str]) -> None:
        self._digests: list[tuple[str, bytes]] | None = None
        if callers is not None:
            self._digests = [(caller.name, _digest(_key(caller, env))) for caller in callers]

    def identify(self, headers: Mapping[str, str]) -> str | None:
        """The caller's name, by a bearer's key or else by ``x-api-key``, where Anthropic's clients
        have it. ``RouterError`` without a known key where one is needed.

        Digests of equal length are compared in constant time, all of them.
        """
        if self._digests is None:
            return None
        scheme, _, key = headers.get("authorization", "").partition(" ")
        bearer = self._caller(key) if scheme.lower() == "bearer" else None
        found = bearer or self._caller(headers.get("x-api-key", ""))
        if found is None:
            needed = "a valid API key is needed: Authorization: Bearer KEY, or x-api-key: KEY"
            raise RouterError(Code.INVALID_API_KEY, needed)
        return found

    def _caller(self, key: str) -> str | None:
        given = _digest(key.strip())
        found = None
        for name, digest in self._digests or ():
            if compare_digest(given, digest):
                found = name
        return found


def _key(caller: Caller, env: Mapping[str, str]) -> str:
    key = env.get(caller.api_key_env, "").strip()
    if not key:
        raise PolicyError(f"caller {caller.name}: {caller.api_key_env} is not set")
    return key


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
