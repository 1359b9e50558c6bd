"""The trace header (HDR-2, API-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import http_sf
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import AnswerError
from serve_app.outcome import CallOutcome, Coverage, Outcome, RuleOutcome, Truth
from serve_app.wire.trace import MAX_BYTES, trace

NAMES = st.text(min_size=1, max_size=40)


def parsed(outcome: Outcome) -> dict[str, Any]:
    written = trace(outcome)
    assert written.isascii()
    assert len(written) <= MAX_BYTES
    members = http_sf.parse(written.encode(), tltype="dictionary")
    assert isinstance(members, dict)
    return members


def inner(member: Any) -> list[str]:
    return [str(item) for item, _ in member[0]]


def rule(type: str, name: str, effective: Truth = Truth.TRUE, **more: Any) -> RuleOutcome:
    return RuleOutcome(type, name, effective, effective, **more)


def test_every_member_of_the_trace() -> None:
    """HDR-2, API-8; CFG-10: the version is on every trace"""
    outcome = Outcome(
        recipe="r",
        config_version="0f3a",
        models=("reasoner",),
        output=("text", "image"),
        algorithm="systemone",
        confidence=0.9312,
        ranking=(("reasoner", 0.75), ("general", 0.25)),
        rules=(
            rule("jailbreak", "attack"),
            rule("safety", "calm", Truth.FALSE),
            rule("domain", "math", option="math", labelled=True),
            rule("complexity", "difficulty", option="hard"),
        ),
    )
    assert trace(outcome) == (
        "signals=(jailbreak:attack domain:math complexity:difficulty:hard), confidence=0.931,"
        " algorithm=systemone, ranking=(reasoner;score=0.75 general;score=0.25),"
        ' modality=(text image), config="0f3a"'
    )


def test_a_guard_that_failed_closed_is_among_the_signals() -> None:
    """HDR-2, UNK-3"""
    closed = RuleOutcome("pii", "any", Truth.UNKNOWN, Truth.TRUE)
    unknown = RuleOutcome("safety", "harm", Truth.UNKNOWN, Truth.UNKNOWN)
    assert inner(parsed(Outcome("r", "v", rules=(closed, unknown)))["signals"]) == ["pii:any"]


def test_every_rule_without_an_answer_says_why() -> None:
    """UNK-1, UNK-3: what failed closed too; a rule whose question did not arise is none of them"""
    late, full = AnswerError.DEADLINE_EXCEEDED, AnswerError.OVERLOADED
    closed = RuleOutcome("pii", "any", Truth.UNKNOWN, Truth.TRUE, reason=late)
    unknown = RuleOutcome("safety", "harm", Truth.UNKNOWN, Truth.UNKNOWN, reason=full)
    written = trace(Outcome("r", "v", rules=(closed, unknown, rule("domain", "math"))))
    assert "unknown=(pii:any;reason=deadline_exceeded safety:harm;reason=overloaded)" in written
    selector = CallOutcome("selector", "d", "standard", {"1": ("selector",)}, 1.0)
    late_selector = replace(selector, unanswered={"1": {"selector": late}})
    written = trace(Outcome("r", "v", calls=(selector, late_selector)))
    assert "unknown=(selector;reason=deadline_exceeded)" in written
    assert "unknown" not in trace(Outcome("r", "v", rules=(rule("domain", "math"),)))


@given(st.lists(st.tuples(NAMES, NAMES), max_size=150), NAMES, NAMES)
def test_any_names_make_a_dictionary_that_parses_within_4_kb(
    rules: list[tuple[str, str]], algorithm: str, version: str
) -> None:
    """API-8: tokens, strings, Display Strings; whole members are cut"""
    outcome = Outcome(
        recipe="r",
        config_version=version,
        algorithm=algorithm,
        rules=tuple(rule(type, name) for type, name in rules),
    )
    members = parsed(outcome)
    if "truncated" not in members:
        assert inner(members["signals"]) == [f"{type}:{name}" for type, name in rules]
        assert str(members["algorithm"][0]) == algorithm


def test_a_member_that_does_not_fit_is_left_out_whole() -> None:
    """API-8"""
    many = tuple(rule("systemone", f"rule_{i:04}") for i in range(300))
    members = parsed(Outcome("r", "v", algorithm="static", rules=many))
    assert "signals" not in members
    assert members["truncated"][0] is True
    assert str(members["algorithm"][0]) == "static"


def test_a_guard_that_read_windows_says_how_many() -> None:
    """COV-4, HDR-2"""
    outcome = Outcome(
        recipe="r",
        config_version="1",
        rules=(
            rule("jailbreak", "attack", Truth.FALSE, coverage=Coverage(3, 12)),
            rule("pii", "data", Truth.FALSE, coverage=Coverage(12, 12)),
            rule("domain", "law"),
        ),
    )
    items, _ = parsed(outcome)["scan_coverage"]
    assert {str(name): dict(counts) for name, counts in items} == {
        "jailbreak:attack": {"n": 3, "m": 12},
        "pii:data": {"n": 12, "m": 12},
    }
