"""``x-vsr-trace``: what System One answered, as an RFC 9651 dictionary (HDR-2, API-8)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from http_sf import DisplayString, Token, ser

from serve_app.outcome import Outcome, RuleOutcome, Truth

MAX_BYTES: Final = 4096

_TOKEN: Final = re.compile(r"[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*", re.ASCII)
_STRING: Final = re.compile(r"[\x20-\x7e]*")
_THOUSANDTH: Final = Decimal("0.001")
_TRUNCATED: Final = "truncated"


def trace(outcome: Outcome) -> str:
    """Members that do not fit into 4 KB are left out whole, and ``truncated`` says so."""
    room = MAX_BYTES - len(_TRUNCATED) - 2
    written: list[str] = []
    cut = False
    for name, value in _members(outcome).items():
        member = ser({name: value})
        if len(member) > room:
            cut = True
            continue
        room -= len(member) + 2
        written.append(member)
    return ", ".join([*written, _TRUNCATED] if cut else written)


def matched(rules: Iterable[RuleOutcome]) -> list[str]:
    """``type:name`` of every rule that counts as a match; a choice without labels names its
    winner as well."""
    names = []
    for rule in rules:
        if rule.effective is Truth.TRUE:
            option = f":{rule.option}" if rule.option is not None and not rule.labelled else ""
            names.append(f"{rule.type}:{rule.name}{option}")
    return names


def _members(outcome: Outcome) -> dict[str, Any]:
    members: dict[str, Any] = {"signals": _list(matched(outcome.rules))}
    if unknown := _unknown(outcome):
        members["unknown"] = (unknown, {})
    if scanned := _scanned(outcome):
        members["scan_coverage"] = (scanned, {})
    if outcome.confidence is not None:
        members["confidence"] = (_decimal(outcome.confidence), {})
    if outcome.algorithm is not None:
        members["algorithm"] = (_item(outcome.algorithm), {})
    if outcome.ranking:
        ranked = [(_item(model), {"score": _decimal(score)}) for model, score in outcome.ranking]
        members["ranking"] = (ranked, {})
    members["modality"] = _list(outcome.output)
    members["config"] = (_item(outcome.config_version), {})
    return members


def _scanned(outcome: Outcome) -> list[Any]:
    """``type:name;n=…;m=…`` of every guard that read its input in windows (COV-4)."""
    return [
        (
            _item(f"{rule.type}:{rule.name}"),
            {"n": rule.coverage.read, "m": rule.coverage.planned},
        )
        for rule in outcome.rules
        if rule.coverage is not None
    ]


def _unknown(outcome: Outcome) -> list[Any]:
    """``type:name;reason=…`` of every rule without an answer, those that failed closed too, and
    ``selector;reason=…``."""
    reasons = [
        (f"{rule.type}:{rule.name}", rule.reason)
        for rule in outcome.rules
        if rule.verdict is Truth.UNKNOWN and rule.reason is not None
    ]
    for call in outcome.calls:
        if call.stage == "selector":
            asked = [reason for by_id in call.unanswered.values() for reason in by_id.values()]
            reasons += [("selector", reason) for reason in asked]
    return [(_item(name), {"reason": Token(reason.value)}) for name, reason in reasons]


def _list(values: Iterable[str]) -> tuple[list[Any], dict[str, Any]]:
    return [(_item(value), {}) for value in values], {}


def _item(value: str) -> Any:
    """A token where the grammar has it as one, a string if it is ASCII, else a Display String."""
    if _TOKEN.fullmatch(value):
        return Token(value)
    return value if _STRING.fullmatch(value) else DisplayString(value)


def _decimal(value: float) -> Decimal:
    return Decimal(str(value)).quantize(_THOUSANDTH)
