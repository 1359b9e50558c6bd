"""Public response headers, ``Server-Timing``, and what a request's headers say (API-7, API-8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Final
from urllib.parse import quote

from serve_app.asking.call import Timings
from serve_app.errors import Code, RouterError
from serve_app.outcome import Outcome

TIMEOUT_HEADER: Final = "x-vsr-timeout-seconds"
PREFIX: Final = "x-vsr-"
ID_PREFIX: Final = "req_"

UNTRANSLATED: Final = "untranslated"
"""Something that the client said could not be said in the provider's format (API-1)."""

WARNINGS: Final = (
    "guard_overloaded",
    "scan_partial",
    "jailbreak",
    "harm",
    "pii",
    "hallucination",
    "unverified",
    UNTRANSLATED,
)
"""The order of ``x-vsr-warnings``; what is not listed follows."""

_STAGES: Final = ("signals", "selector", "match", "masking", "provider", "guard")
_PRINTABLE: Final = "".join(map(chr, range(0x20, 0x7F)))


def request_id(random_bytes: Callable[[int], bytes]) -> str:
    """``req_`` and 32 hexadecimal digits; a client's own is never taken over (API-7)."""
    return ID_PREFIX + random_bytes(16).hex()


def id_headers(request_id: str) -> dict[str, str]:
    """The request's id, for both families of clients (API-8, S1-7)."""
    return {"x-vsr-request-id": request_id, "x-typesafe-request-id": request_id}


def public_headers(
    path: str,
    *,
    recipe: str | None = None,
    decision: str | None = None,
    model: str | None = None,
    warnings: Iterable[str] = (),
) -> dict[str, str]:
    """What every routed response says about itself (HDR-1). Absent values have no header."""
    headers = {"x-vsr-response-path": path}
    if recipe is not None:
        headers["x-vsr-selected-recipe"] = _ascii(recipe)
    if decision is not None:
        headers["x-vsr-selected-decision"] = _ascii(decision)
    if model is not None:
        headers["x-vsr-selected-model"] = _ascii(model)
    if ordered := ",".join(sorted(warnings, key=_warning_rank)):
        headers["x-vsr-warnings"] = _ascii(ordered)
    return headers


def outcome_headers(outcome: Outcome, path: str, model: str | None) -> dict[str, str]:
    return public_headers(
        path,
        recipe=outcome.recipe or None,
        decision=outcome.decision,
        model=model,
        warnings=outcome.warnings,
    )


def response_path(outcome: Outcome) -> str:
    """The ``x-vsr-response-path`` that a request with this outcome gets (API-8)."""
    if outcome.refused is not None:
        return error_path(outcome.refused.code)
    if outcome.fast is not None:
        return "fast_response" if outcome.fast.status == 200 else "blocked"
    return "upstream"


def error_path(code: Code) -> str:
    """The ``x-vsr-response-path`` of a failure."""
    match code:
        case Code.OVERLOADED:
            return "overloaded"
        case Code.CONTENT_BLOCKED:
            return "blocked"
    return "error"


def server_timing(
    stage_ms: Mapping[str, float], timings: Iterable[Timings | None]
) -> dict[str, str]:
    """Stages in the order of a request, then the model's own times, summed over the calls that it
    told them of.
    """
    calls = [call for call in timings if call is not None]
    model = {
        "queue": sum(call.queue_ms for call in calls),
        "tokenize": sum(call.tokenize_ms for call in calls),
        "forward": sum(call.forward_ms for call in calls),
    }
    stages = {name: stage_ms[name] for name in _STAGES if name in stage_ms}
    entries = stages | (model if calls else {})
    value = ", ".join(f"{name};dur={ms:.3f}" for name, ms in entries.items())
    return {"server-timing": value} if value else {}


def timeout_seconds(headers: Mapping[str, str]) -> float | None:
    """The request's own deadline (BUD-3), ``RouterError`` for what is no positive number."""
    value = headers.get(TIMEOUT_HEADER)
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not isfinite(seconds) or seconds <= 0:
        raise RouterError(
            Code.INVALID_REQUEST,
            f"{TIMEOUT_HEADER} must be a number of seconds above 0",
            loc=("header", TIMEOUT_HEADER),
        )
    return seconds


def _warning_rank(warning: str) -> int:
    return WARNINGS.index(warning) if warning in WARNINGS else len(WARNINGS)


def _ascii(value: str) -> str:
    """Names of a configuration may be in any script; a header is ASCII."""
    if value.isascii() and value.isprintable():
        return value
    return quote(value, safe=_PRINTABLE.replace("%", ""))
