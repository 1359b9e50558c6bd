"""What a scan has read for a rule, and what that says of it (COV-1 to COV-3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.questions.types import AnswerError, Span
from serve_app.outcome import Coverage, Truth
from serve_app.reading import Reading
from serve_app.scan.rule import ScannedRule


@dataclass(frozen=True, slots=True)
class Found:
    """What a scan has found for a rule.

    ``values``: the greatest of its windows', by option, none while no window was read. ``decided``:
    they meet every condition on it. ``diluted``: a larger window, or the tail, came near it and
    was not read again as it needed (SCAN-7, SCAN-8). ``error``: why a window was not read.
    ``unreadable``: some were not for ``invalid_input``. ``spans``: in code points of the input.
    """

    values: tuple[float, ...]
    coverage: Coverage
    decided: bool
    diluted: bool
    error: AnswerError
    unreadable: bool
    spans: tuple[Span, ...] = ()


def final_reading(rule: ScannedRule, found: Found) -> Reading:
    """The rule's reading when the scan has ended. What was read and matches stands in any case; of
    one that does not, all must have been read, at the size that it needs."""
    coverage = found.coverage
    if not found.values:
        return Reading(reason=found.error, windowed=True)
    seen = Reading(found.values, windowed=True)
    if found.decided or (coverage.read == coverage.planned and not found.diluted):
        return seen
    match rule.on_unscanned:
        case "match":
            return replace(seen, unread=Truth.TRUE)
        case "no_match":
            return replace(seen, unread=Truth.FALSE)
        case "unknown":
            return replace(seen, unread=Truth.UNKNOWN, reason=found.error)
    if found.unreadable:
        return replace(seen, unread=Truth.UNKNOWN, reason=AnswerError.INVALID_INPUT)
    least = rule.min_coverage
    if least is not None and coverage.read / coverage.planned < least:
        return replace(seen, unread=Truth.UNKNOWN, reason=found.error)
    return seen
