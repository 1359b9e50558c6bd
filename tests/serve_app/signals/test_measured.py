"""Rules without a model: CFG-4, CFG-6, COST-1."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.config.schema.signals import KeywordRule
from serve_app.message import Counts, Message, Modality
from serve_app.outcome import Outcome, Truth
from serve_app.signals.words import Words
from tests.doubles.recipes import ROUTED, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk


def words(*keywords: str, **fields: Any) -> Words:
    return Words.of(KeywordRule(name="k", keywords=list(keywords), **fields))


@pytest.mark.parametrize(
    ("keyword", "text", "found"),
    [
        ("urgent", "This is URGENT!", True),
        ("urgent", "insurgents are urgently near", False),
        ("urgent", "urgent", True),
        ("urgent", "not_urgent", False),
        ("urgent", "un-urgent", True),
        ("straße", "DIE STRASSE IST LANG", True),
        ("ΣΊΣΥΦΟΣ", "ο σίσυφος", True),
        ("слово", "Слово.", True),
        ("слово", "словом", False),
        ("café", "cafe\u0301 noir", True),  # decomposed
        ("cafe", "cafe\u0301 noir", False),  # a mark runs on
        ("c++", "I like C++.", True),
        (".net", "use .NET now", True),
        ("人工智能", "什么是人工智能吗", True),
        ("python", "用python写", True),
        ("two words", "here Two Words there", True),
        ("a.c", "abc", False),
        ("x", "", False),
    ],
)
def test_keywords_match_whole_words_in_any_case(keyword: str, text: str, found: bool) -> None:
    assert words(keyword).match(text) is found


def test_a_rule_may_be_case_sensitive() -> None:
    rule = words("IT", patterns=["Now$"], case_sensitive=True)
    assert rule.match("IT works")
    assert not rule.match("it works now")
    assert rule.match("do it Now")


@pytest.mark.parametrize(
    ("operator", "text", "match"),
    [
        ("OR", "red", True),
        ("OR", "none", False),
        ("AND", "red", False),
        ("AND", "red and blue, 12", True),
        ("AND", "red and blue", False),
        ("NOR", "none", True),
        ("NOR", "blue", False),
        ("NOR", "7", False),
    ],
)
def test_operators_join_keywords_and_patterns(operator: str, text: str, match: bool) -> None:
    assert words("red", "blue", patterns=[r"\d+"], operator=operator).match(text) is match


def test_lone_surrogates_are_read_like_any_other_text() -> None:
    rule = words("bomb", patterns=["x+"])
    assert rule.match("a bomb \ud800")
    assert rule.match("\ud800xx")
    assert not rule.match("\udfff")


def test_many_keywords_are_all_looked_for() -> None:
    many = [f"word{i}" for i in range(450)]
    assert words(*many).match("so word449 it is")
    assert not words(*many).match("so word450 it is")


@given(st.text(alphabet="ab _-Ω漢", max_size=12), st.text(alphabet="abΩ", min_size=1, max_size=3))
def test_whole_words_are_those_that_splitting_finds(text: str, word: str) -> None:
    letters = "".join(c if c.casefold() in "abω_" else " " for c in text)
    expected = word.casefold() in letters.casefold().split()
    assert words(word).match(text) is expected


def test_patterns_take_linear_time() -> None:
    """RE2: a pattern that would take a backtracking engine for ever."""
    assert not words(patterns=["^(a+)+$"]).match("a" * 50_000 + "b")


MESSAGE = Message(
    "Hello",
    modalities=frozenset({Modality.TEXT, Modality.IMAGE}),
    counts=Counts(
        system=1, user=3, assistant=2, tool=4, tool_definitions=5, tool_calls=6, images=7
    ),
    tokens=1000,
    metadata={"tier": "gold", "header.x-team": "red"},
)


async def measured(
    section: str, rule: dict[str, Any], leaf: dict[str, Any] | None = None
) -> Outcome:
    known = {
        "signals": {section: [{"name": "it", **rule}]},
        "decisions": [
            {
                "name": "d",
                "rules": {"conditions": [{"type": section, "name": "it", **(leaf or {})}]},
                **ROUTED,
            }
        ],
    }
    return await routed(compiled(known, default_model="endless"), ScriptedAsk(), MESSAGE)


@pytest.mark.parametrize(
    ("section", "rule", "match"),
    [
        ("context", {"min_tokens": 1000}, True),
        ("context", {"min_tokens": 1001}, False),
        ("context", {"max_tokens": 1000}, True),
        ("context", {"max_tokens": 999}, False),
        ("context", {"min_tokens": 10, "max_tokens": 2000}, True),
        ("input_modality", {"modality": "image"}, True),
        ("input_modality", {"modality": "audio"}, False),
        ("metadata", {"key": "tier"}, True),
        ("metadata", {"key": "tier", "equals": "gold"}, True),
        ("metadata", {"key": "tier", "equals": "Gold"}, False),
        ("metadata", {"key": "tier", "any_of": ["silver", "gold"]}, True),
        ("metadata", {"key": "tier", "any_of": ["silver"]}, False),
        ("metadata", {"key": "missing"}, False),
        ("metadata", {"header": "X-Team", "equals": "red"}, True),
        ("metadata", {"key": "x-team"}, False),
        *(
            ("conversation", {"count": count, "predicate": {"gte": n, "lte": n}}, True)
            for count, n in {
                "messages": 10,
                "system": 1,
                "user": 3,
                "assistant": 2,
                "tool": 4,
                "tool_definitions": 5,
                "tool_calls": 6,
                "images": 7,
            }.items()
        ),
        ("conversation", {"count": "user", "predicate": {"gt": 3}}, False),
    ],
    ids=str,
)
async def test_what_is_measured(section: str, rule: dict[str, Any], match: bool) -> None:
    outcome = await measured(section, rule)
    assert outcome.decision == ("d" if match else None)
    assert outcome.rules[0].verdict is (Truth.TRUE if match else Truth.FALSE)
    assert outcome.calls == ()


async def test_counts_tell_their_figures_and_yes_or_no_has_none() -> None:
    """API-9"""
    (count,) = (await measured("context", {"min_tokens": 400})).rules
    assert (count.value, count.threshold, count.margin) == (1000, 400, 600)
    (flag,) = (await measured("metadata", {"key": "tier"})).rules
    assert (flag.value, flag.threshold, flag.margin) == (None, None, None)
    assert (flag.question_id, flag.deployment) == (None, None)


async def test_a_condition_may_bring_its_own_predicate() -> None:
    """CFG-7"""
    assert (
        await measured("context", {"min_tokens": 2000}, {"predicate": {"gte": 900}})
    ).decision == "d"


ATTACK = {"type": "jailbreak", "name": "attack"}
URGENT = {"type": "keywords", "name": "urgent"}
NOT_URGENT = {"operator": "NOT", "conditions": [URGENT]}


@pytest.mark.parametrize(
    ("decisions", "text", "taken", "calls"),
    [
        # the first decision is settled by words: nothing is asked
        ([("u", [URGENT]), ("a", [ATTACK])], "urgent", "u", 0),
        # they rule it out, so the next one is open
        ([("u", [URGENT]), ("a", [ATTACK])], "calm", "a", 1),
        # an open decision stands before the settled one
        ([("a", [ATTACK]), ("u", [URGENT])], "urgent", "a", 1),
        # a false condition settles an AND with an open one
        ([("b", [URGENT, ATTACK]), ("rest", [])], "calm", "rest", 0),
        ([("b", [URGENT, ATTACK]), ("rest", [])], "urgent", "b", 1),
        # everything is ruled out: no decision, nothing asked
        ([("b", [URGENT, ATTACK])], "calm", None, 0),
        ([("n", [NOT_URGENT, URGENT]), ("rest", [])], "calm", "rest", 0),
    ],
    ids=str,
)
async def test_nothing_is_asked_where_words_alone_settle_the_decision(
    decisions: list[tuple[str, list[Any]]], text: str, taken: str | None, calls: int
) -> None:
    """CFG-6, COST-1"""
    known = {
        "signals": {
            "keywords": [{"name": "urgent", "keywords": ["urgent"]}],
            "jailbreak": [{"name": "attack"}],
        },
        "decisions": [
            {"name": name, "rules": {"conditions": conditions}, **ROUTED}
            for name, conditions in decisions
        ],
    }
    ask = ScriptedAsk({"preset:jailbreak": 0.9})
    outcome = await routed(compiled(known, default_model="endless"), ask, text)
    assert outcome.decision == taken
    assert len(ask.calls) == calls
    if not calls:
        assert [rule.type for rule in outcome.rules] == ["keywords"]
        assert not any(rule.failed_closed for rule in outcome.rules)


async def test_a_guard_that_is_not_asked_does_not_fail_closed() -> None:
    """CFG-6: also not through a policy of its condition or its decision."""
    known = {
        "signals": {
            "keywords": [{"name": "urgent", "keywords": ["urgent"]}],
            "jailbreak": [{"name": "attack"}],
        },
        "decisions": [
            {"name": "u", "priority": 2, "rules": {"conditions": [URGENT]}, **ROUTED},
            {
                "name": "a",
                "priority": 1,
                "rules": {"conditions": [ATTACK], "on_unknown": "fail_request"},
                **ROUTED,
            },
        ],
    }
    outcome = await routed(compiled(known), ScriptedAsk(), "urgent")
    assert outcome.decision == "u"
    assert outcome.decisions[1].truth is Truth.UNKNOWN
    assert outcome.decisions[1].tree.children[0].truth is Truth.UNKNOWN
