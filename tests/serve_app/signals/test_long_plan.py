"""What is asked about a long input: VIEW-1 to VIEW-3, SCAN-1, SCAN-3, SIG-3."""

from __future__ import annotations

import pytest

from models.questions.render import render
from serve_app.message import Message, Role, Turn
from tests.doubles.long_inputs import (
    BLOCKED,
    REST,
    SIGNALS,
    WINDOW,
    ReadingAsk,
    coverage,
    recipe,
    text_of,
)
from tests.doubles.recipes import ROUTED, routed

pytestmark = pytest.mark.looptime


async def test_a_short_input_is_one_call_as_before() -> None:
    """SIG-3, VIEW-3"""
    ask = ReadingAsk()
    outcome = await routed(recipe(), ask, "Hello")
    (call,) = ask.calls
    assert [entry.state for entry in call.entries.values()] == [{"request": "Hello"}]
    assert outcome.decision == "rest"
    assert coverage(outcome) == {}


async def test_guards_read_all_of_a_long_input_and_routing_questions_a_view() -> None:
    """VIEW-1, SCAN-1, SCAN-3, SIG-3: each window is a call, all its guards' questions in it"""
    ask = ReadingAsk()
    text = text_of(5)
    outcome = await routed(recipe(), ask, text)
    assert outcome.decision == "rest"
    assert coverage(outcome) == {"jailbreak": "full", "pii": "full"}
    assert outcome.warnings == ()
    routing = [call for call in ask.calls if "preset:domain" in call.entries["1"].questions]
    assert [list(call.entries["1"].questions) for call in routing] == [["preset:domain"]]
    shown = routing[0].entries["1"].state["request"]
    assert len(shown.encode()) <= WINDOW
    assert "tokens omitted" in shown
    windows = [call for call in ask.calls if call not in routing]
    assert {tuple(c.entries["1"].questions) for c in windows} == {
        ("preset:jailbreak", "preset:pii")
    }
    assert ask.windows[0] == text[-len(ask.windows[0]) :]
    assert ask.windows[1] == text[: len(ask.windows[1])]
    assert all(len(window) <= WINDOW for window in ask.windows)
    assert all(piece in text for piece in ask.windows)


async def test_inputs_of_one_text_share_their_windows() -> None:
    """SCAN-3: rules that read the same input, whichever way"""
    signals = {**SIGNALS, "pii": [{"name": "data", "input": {"tool_results": True}}]}
    ask = ReadingAsk()
    await routed(recipe(signals=signals), ask, text_of(4))
    assert ("preset:jailbreak", "preset:pii") in {
        tuple(c.entries["1"].questions) for c in ask.calls
    }
    message = Message(text_of(4), tool_results=(text_of(2, DATA=500),))
    ask = ReadingAsk()
    outcome = await routed(recipe(signals=signals), ask, message)
    questions = {tuple(c.entries["1"].questions) for c in ask.calls}
    assert {("preset:jailbreak",), ("preset:pii",)} <= questions
    assert outcome.decision == "private"


async def test_a_guards_texts_are_joined_oldest_first() -> None:
    """SCAN-1: history, previous turns, tool results, request"""
    signals = {
        "jailbreak": [
            {"name": "attack", "input": {"history": True, "tool_results": True}},
        ]
    }
    message = Message(
        "r" * 900,
        earlier=(Turn(Role.SYSTEM, "s" * 500), Turn(Role.USER, "u" * 500)),
        tool_results=("t" * 500,),
    )
    ask = ReadingAsk()
    await routed(recipe(BLOCKED, REST, signals=signals), ask, message)
    whole = "\n".join(["s" * 500, "u" * 500, "t" * 500, "r" * 900])
    assert all(window in whole for window in ask.windows)
    assert whole.startswith(ask.windows[1])
    assert {"s", "u", "t", "r"} <= set("".join(ask.windows))


async def test_a_view_keeps_what_a_rule_reads_beside_the_request() -> None:
    """VIEW-2: and a question that asks for all of it gets all of it"""
    question = {"type": "noul", "instructions": "Is it long?"}
    signals = {
        "domains": [{"name": "topic", "labels": ["law"], "input": {"previous_turns": 2}}],
        "systemone": [
            {"name": "all", "question": question},
            {"name": "some", "question": question | {"instructions": "?"}, "coverage": "truncate"},
        ],
    }
    decision = {
        "name": "d",
        "rules": {
            "operator": "OR",
            "conditions": [
                {"type": "domain", "name": "topic"},
                {"type": "systemone", "name": "all"},
                {"type": "systemone", "name": "some"},
            ],
        },
        **ROUTED,
    }
    text = text_of(3)
    message = Message(text, earlier=(Turn(Role.USER, "old"), Turn(Role.ASSISTANT, "newer")))
    ask = ReadingAsk()
    await routed(recipe(decision, REST, signals=signals), ask, message)
    (call,) = ask.calls
    by_question = {id: entry.state for entry in call.entries.values() for id in entry.questions}
    assert by_question["systemone:all"] == {"request": text}
    assert len(by_question["systemone:some"]["request"]) <= WINDOW
    assert by_question["preset:domain"] == by_question["systemone:some"]
    assert len(call.entries) == 2


async def test_many_empty_turns_are_no_short_state() -> None:
    """SIZE-1: a model reads what stands around a text too"""
    signals = {"domains": [{"name": "topic", "labels": ["law"], "input": {"history": True}}]}
    decision = {
        "name": "d",
        "rules": {"conditions": [{"type": "domain", "name": "topic"}]},
        **ROUTED,
    }
    ask = ReadingAsk()
    turns = tuple(Turn(Role.USER, "") for _ in range(10_000))
    await routed(recipe(decision, REST, signals=signals), ask, Message("Hello", earlier=turns))
    (call,) = ask.calls
    shown = call.entries["1"].state
    assert len(shown["history"]) < 50
    assert WINDOW - 40 < len(render(shown)) <= WINDOW


GUARDED = {"jailbreak": [{"name": "attack", "input": {"history": True}}]}


@pytest.mark.parametrize("text", ["ok", ""])
async def test_a_guards_input_of_many_short_turns_is_one_window(text) -> None:
    """SCAN-1, SIZE-1: no longer than a window as a text, longer than what a model reads of it"""
    ask = ReadingAsk()
    turns = tuple(Turn(Role.ASSISTANT, text) for _ in range(300))
    known = recipe(BLOCKED, REST, signals=GUARDED, scan_window={"tokens": 256, "max_tokens": 256})
    outcome = await routed(known, ask, Message("ok", earlier=turns))
    (call,) = ask.calls
    assert call.entries["1"].state == {"request": "\n".join([*[text] * 300, "ok"])}
    assert coverage(outcome) == {"jailbreak": "full"}
    assert outcome.decision == "rest"


async def test_a_guards_input_is_long_by_its_texts_alone() -> None:
    """SCAN-1: neither what keys and entries add counts, nor an image"""
    signals = {"jailbreak": [{"name": "attack", "input": {"history": True, "images": True}}]}
    turns = tuple(Turn(Role.USER, "ok") for _ in range(50))
    image = "data:image/png;base64," + "A" * 5_000
    message = Message("r" * 873, earlier=turns, images=(image,))
    ask = ReadingAsk()
    outcome = await routed(recipe(BLOCKED, REST, signals=signals), ask, message)
    (call,) = ask.calls
    assert len(call.entries["1"].state["history"]) == 50
    assert coverage(outcome) == {}
    one_more = Message("r" * 875, earlier=turns, images=(image,))
    ask = ReadingAsk()
    outcome = await routed(recipe(BLOCKED, REST, signals=signals), ask, one_more)
    assert len(ask.windows) == 2
    assert coverage(outcome) == {"jailbreak": "full"}


@pytest.mark.parametrize(
    ("section", "rule", "viewed"),
    [
        ("domains", {"labels": ["law"]}, True),
        ("complexity", {"predicate": {"gte": 0.5}}, True),
        ("modality", {}, True),
        ("fact_check", {}, True),
        ("turn_relation", {"labels": ["follow_up"]}, True),
        ("user_feedbacks", {"labels": ["satisfied"]}, True),
        ("jailbreak", {}, False),
        ("safety", {}, False),
        ("pii", {}, False),
    ],
)
async def test_routing_rules_have_a_view_and_guards_have_none(section, rule, viewed) -> None:
    """VIEW-1: of a text longer than the view and shorter than a window"""
    type = {"domains": "domain", "user_feedbacks": "user_feedback"}.get(section, section)
    label = {"complexity": "hard", "modality": "image"}.get(section)
    condition = {"type": type, "name": "r"} | ({"label": label} if label else {})
    if section == "complexity":
        rule = {}
    decision = {"name": "d", "rules": {"conditions": [condition]}, **ROUTED}
    settings = {"scan_window": {"tokens": 640, "overlap": 16}}
    known = recipe(decision, REST, signals={section: [{"name": "r", **rule}]}, **settings)
    text = text_of(2)
    message = Message(text, earlier=(Turn(Role.USER, "a"), Turn(Role.ASSISTANT, "b")))
    ask = ReadingAsk()
    await routed(known, ask, message)
    (call,) = ask.calls
    (entry,) = call.entries.values()
    assert (entry.state["request"] != text) is viewed
    assert ("tokens omitted" in entry.state["request"]) is viewed
