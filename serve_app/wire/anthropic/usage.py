"""Tokens: Messages counts those of the cache beside ``input_tokens``, the router among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.questions.types import JsonValue
from serve_app.wire.neutral.events import Used


def read_usage(usage: Mapping[str, JsonValue]) -> Used:
    """A ``usage``; what is no number counts as not told."""
    cached = _count(usage.get("cache_read_input_tokens"))
    written = _count(usage.get("cache_creation_input_tokens"))
    details = usage.get("output_tokens_details")
    return Used(
        input=(_count(usage.get("input_tokens")) or 0) + (cached or 0) + (written or 0),
        output=_count(usage.get("output_tokens")) or 0,
        cached=cached,
        written=written,
        reasoning=_count(details.get("thinking_tokens")) if isinstance(details, dict) else None,
    )


def write_usage(used: Used) -> dict[str, Any]:
    """The members of ``used`` that are told."""
    uncached = used.input - (used.cached or 0) - (used.written or 0)
    usage: dict[str, Any] = {"input_tokens": max(0, uncached), "output_tokens": used.output}
    if used.written is not None:
        usage["cache_creation_input_tokens"] = used.written
    if used.cached is not None:
        usage["cache_read_input_tokens"] = used.cached
    if used.reasoning is not None:
        usage["output_tokens_details"] = {"thinking_tokens": used.reasoning}
    return usage


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
