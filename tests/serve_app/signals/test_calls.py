"""Recipes and messages -> exact calls: SIG-1 to SIG-6, MRG-1, MRG-2, COST-1, COST-3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.asking.call import Call
from serve_app.message import Counts, Message, Modality, Role, Turn
from serve_app.recipe import CompiledRecipe
from tests.doubles.recipes import ROUTED, compiled, deployments, routed
from tests.doubles.scripted_ask import ScriptedAsk

NOUL = {"type": "noul", "instructions": "Is it?"}
FIRST = Message("Hello")
LATER = Message(
    "And then?",
    earlier=(
        Turn(Role.SYSTEM, "Be kind."),
        Turn(Role.USER, "One"),
        Turn(Role.ASSISTANT, "Two"),
        Turn(Role.TOOL, "Three"),
        Turn(Role.USER, "Four"),
        Turn(Role.ASSISTANT, "Five"),
    ),
    tool_results=("Three",),
    images=("data:image/png;base64,AA==",),
    modalities=frozenset({Modality.TEXT, Modality.IMAGE}),
    counts=Counts(system=1, user=3, assistant=2, tool=1, images=1),
    metadata={"tier": "gold", "header.x-team": "red", "other": "1"},
)


def recipe(signals: Mapping[str, Any], unread: tuple[str, ...] = ()) -> dict[str, Any]:
    """One decision that reads every rule but ``unread``, and matches none of them alone."""
    types = {
        "domains": "domain",
        "user_feedbacks": "user_feedback",
    }
    leaves = [
        {"type": types.get(section, section), "name": rule["name"]}
        for section, rules in signals.items()
        for rule in rules
        if rule["name"] not in unread
    ]
    return {
        "signals": dict(signals),
        "decisions": [{"name": "d", "rules": {"conditions": leaves}, **ROUTED}],
    }


async def calls_of(known: CompiledRecipe, message: Message) -> list[Call]:
    ask = ScriptedAsk()
    await routed(known, ask, message, explain=False)
    return ask.calls


def shape(calls: list[Call]) -> list[tuple[str, list[tuple[str, Any, list[str]]]]]:
    """Deployment, then per entry: name, state, question ids in order."""
    return [
        (c.deployment, [(n, e.state, list(e.questions)) for n, e in c.entries.items()])
        for c in calls
    ]


def turn(role: str, text: str) -> dict[str, str]:
    return {"role": role, "text": text}


HELLO = {"request": "Hello"}
THEN = {"request": "And then?"}
LAST = {"previous_turns": [turn("assistant", "Five")], **THEN}
HISTORY = {
    "history": [
        turn("system", "Be kind."),
        turn("user", "One"),
        turn("assistant", "Two"),
        turn("tool", "Three"),
        turn("user", "Four"),
        turn("assistant", "Five"),
    ],
    **THEN,
}
EXAMPLE = {
    "domains": [{"name": "math", "labels": ["math"]}],
    "jailbreak": [{"name": "attack"}],
    "complexity": [{"name": "difficulty"}],
    "systemone": [{"name": "needs_tools", "question": NOUL}],
}
EXAMPLE_IDS = ["preset:domain", "preset:jailbreak", "preset:complexity", "systemone:needs_tools"]

GOLDEN: dict[str, tuple[dict[str, Any], tuple[str, ...], Message, list[Any]]] = {
    "all questions about one state are a standard request": (
        EXAMPLE,
        (),
        FIRST,
        [("primary", [("1", HELLO, EXAMPLE_IDS)])],
    ),
    "a rule that nothing reads is not asked": (
        EXAMPLE,
        ("difficulty",),
        FIRST,
        [("primary", [("1", HELLO, [i for i in EXAMPLE_IDS if "complexity" not in i])])],
    ),
    "no text is an empty one": (
        {"jailbreak": [{"name": "a"}]},
        (),
        Message(""),
        [("primary", [("1", {"request": ""}, ["preset:jailbreak"])])],
    ),
    "rules about the turn before are not asked without one": (
        {
            "jailbreak": [{"name": "a"}],
            "turn_relation": [{"name": "t"}],
            "user_feedbacks": [{"name": "u"}],
        },
        (),
        replace(FIRST, earlier=(Turn(Role.SYSTEM, "Be kind."),)),
        [("primary", [("1", HELLO, ["preset:jailbreak"])])],
    ),
    "and read one turn with one": (
        {"turn_relation": [{"name": "t"}], "user_feedbacks": [{"name": "u"}]},
        (),
        LATER,
        [("primary", [("1", LAST, ["preset:user_feedback", "preset:turn_relation"])])],
    ),
    "two states are a batch": (
        {
            "jailbreak": [{"name": "a"}, {"name": "b", "input": {"history": True}}],
            "fact_check": [{"name": "f"}],
        },
        (),
        LATER,
        [
            (
                "primary",
                [
                    ("1", THEN, ["preset:jailbreak", "preset:fact_check"]),
                    ("2", HISTORY, ["preset:jailbreak"]),
                ],
            )
        ],
    ),
    "equal inputs share a state": (
        {
            "jailbreak": [{"name": "a", "input": {"previous_turns": 1}}],
            "fact_check": [{"name": "f", "input": {"previous_turns": 1}}],
        },
        (),
        LATER,
        [("primary", [("1", LAST, ["preset:jailbreak", "preset:fact_check"])])],
    ),
    "states that come out equal share an entry": (
        {
            "jailbreak": [{"name": "a", "input": {"previous_turns": 4}}],
            "fact_check": [{"name": "f", "input": {"previous_turns": 9}}],
        },
        (),
        LATER,
        [
            (
                "primary",
                [
                    (
                        "1",
                        {
                            "previous_turns": [
                                turn("user", "One"),
                                turn("assistant", "Two"),
                                turn("user", "Four"),
                                turn("assistant", "Five"),
                            ],
                            **THEN,
                        },
                        ["preset:jailbreak", "preset:fact_check"],
                    )
                ],
            )
        ],
    ),
    "tool results and images stand before the request": (
        {"jailbreak": [{"name": "a", "input": {"tool_results": True, "images": True}}]},
        (),
        LATER,
        [
            (
                "primary",
                [
                    (
                        "1",
                        {
                            "tool_results": ["Three"],
                            "images": ["data:image/png;base64,AA=="],
                            **THEN,
                        },
                        ["preset:jailbreak"],
                    )
                ],
            )
        ],
    ),
    "deployments have a call each, in their order of names": (
        {
            "jailbreak": [{"name": "a"}],
            "complexity": [{"name": "c", "deployment": "other"}],
            "fact_check": [{"name": "f", "deployment": "other"}],
        },
        (),
        FIRST,
        [
            ("other", [("1", HELLO, ["preset:complexity", "preset:fact_check"])]),
            ("primary", [("1", HELLO, ["preset:jailbreak"])]),
        ],
    ),
    "rules without a model ask nothing": (
        {"keywords": [{"name": "k", "keywords": ["hello"]}]},
        (),
        FIRST,
        [],
    ),
}


@pytest.mark.parametrize("case", GOLDEN)
async def test_what_is_asked(case: str) -> None:
    signals, unread, message, expected = GOLDEN[case]
    known = compiled(
        recipe(signals, unread), catalog=deployments("primary", "other"), default_model="endless"
    )
    assert shape(await calls_of(known, message)) == expected


async def test_the_keys_of_a_state_have_a_fixed_order() -> None:
    """SIG-2: oldest first, the request last, whatever the file's order."""
    everything = {"images": True, "tool_results": True, "previous_turns": 2, "history": True}
    known = compiled(recipe({"jailbreak": [{"name": "a", "input": everything}]}))
    (call,) = await calls_of(known, LATER)
    assert list(call.entries["1"].state) == [
        "history",
        "previous_turns",
        "tool_results",
        "images",
        "request",
    ]


MANY: dict[str, list[dict[str, Any]]] = {
    "domains": [{"name": "math", "labels": ["math"]}, {"name": "law", "labels": ["law"]}],
    "jailbreak": [
        {"name": "now"},
        {"name": "before", "input": {"history": True}},
        {"name": "other", "deployment": "other"},
    ],
    "safety": [{"name": "any"}, {"name": "hate", "labels": ["hate"]}],
    "turn_relation": [{"name": "t"}],
    "systemone": [
        {"name": n, "question": NOUL, "input": {"previous_turns": k}}
        for n, k in zip("abcd", (0, 2, 1, 2), strict=True)
    ],
}


@given(st.data())
def test_the_order_of_rules_in_the_file_does_not_change_the_calls(data: st.DataObject) -> None:
    """SIG-4: equal requests make equal calls, names and order of questions included."""
    shuffled = {section: data.draw(st.permutations(rules)) for section, rules in MANY.items()}
    catalog = deployments("primary", "other")
    for message in (FIRST, LATER):
        usual, other = (
            [
                placed[0]
                for placed in compiled(recipe(signals), catalog=catalog).signals.calls(
                    message, 45.0
                )
            ]
            for signals in (MANY, shuffled)
        )
        assert shape(usual) == shape(other)
        assert usual == other


texts = st.text(max_size=8)
turns = st.builds(Turn, st.sampled_from(list(Role)), texts)
messages = st.builds(
    Message,
    text=texts,
    earlier=st.lists(turns, max_size=5).map(tuple),
    tool_results=st.lists(texts, max_size=2).map(tuple),
    images=st.lists(texts, max_size=2).map(tuple),
    metadata=st.dictionaries(st.sampled_from(["tier", "header.x-team", "z"]), texts),
)
KNOWN = compiled(
    recipe(MANY | {"metadata": [{"name": "tier", "key": "tier"}]}),
    catalog=deployments("primary", "other"),
)


@given(messages)
def test_no_call_has_two_entries_with_one_state_and_every_deployment_has_one_call(
    message: Message,
) -> None:
    """SIG-3, MRG-1"""
    calls = [call for call, _ in KNOWN.signals.calls(message, 45.0)]
    assert [call.deployment for call in calls] == ["other", "primary"]
    for call in calls:
        states = [entry.state for entry in call.entries.values()]
        assert all(a != b for i, a in enumerate(states) for b in states[:i])
        assert list(call.entries) == [str(i + 1) for i in range(len(states))]


@given(messages)
def test_what_a_recipe_does_not_read_does_not_matter(message: Message) -> None:
    """SRV-3: a message narrowed to what is read makes the same calls."""
    narrow = KNOWN.reads.narrow(message)
    assert KNOWN.signals.calls(narrow, 45.0) == KNOWN.signals.calls(message, 45.0)
    assert set(narrow.metadata) <= {"tier"}


def test_a_recipe_says_what_it_reads() -> None:
    """SRV-3"""
    little = compiled(recipe({"jailbreak": [{"name": "a"}]})).reads.narrow(LATER)
    assert (little.earlier, little.tool_results, little.images, little.metadata) == ((), (), (), {})
    assert (little.text, little.counts, little.modalities) == (
        LATER.text,
        LATER.counts,
        LATER.modalities,
    )
    two = compiled(recipe({"jailbreak": [{"name": "a", "input": {"previous_turns": 2}}]})).reads
    assert [t.text for t in two.narrow(LATER).earlier] == ["Four", "Five"]
    team = compiled(recipe({"metadata": [{"name": "team", "header": "X-Team"}]})).reads
    assert team.narrow(LATER).metadata == {"header.x-team": "red"}
    whole = compiled(recipe({"jailbreak": [{"name": "a", "input": {"history": True}}]})).reads
    assert whole.narrow(LATER).earlier == LATER.earlier


def test_a_rule_about_the_turn_before_still_sees_that_there_is_one() -> None:
    """SIG-2: even where its own input reads no turns."""
    bare = {"turn_relation": [{"name": "t", "input": {"tool_results": True}}]}
    known = compiled(recipe(bare))
    assert len(known.signals.calls(known.reads.narrow(LATER), 45.0)) == 1


async def test_a_turn_that_is_not_there_makes_the_rule_false() -> None:
    """SIG-2"""
    known = compiled(recipe({"turn_relation": [{"name": "t"}]}), default_model="endless")
    outcome = await routed(known, ScriptedAsk(), FIRST)
    (rule,) = outcome.rules
    assert (rule.verdict, rule.value, rule.reason) == ("no_match", None, None)
    assert (rule.question_id, rule.deployment) == (None, None)
    assert outcome.calls == ()


async def test_the_calls_made_are_told() -> None:
    """API-9"""
    known = compiled(
        recipe({"jailbreak": [{"name": "a"}, {"name": "b", "input": {"history": True}}]})
    )
    ask = ScriptedAsk({"preset:jailbreak": 0.9}, takes_s={"primary": 0.001})
    (call,) = (await routed(known, ask, LATER)).calls
    assert (call.stage, call.deployment, call.form, call.ms) == ("signals", "primary", "batch", 1.0)
    assert call.questions == {"1": ("preset:jailbreak",), "2": ("preset:jailbreak",)}
    assert call.timings.forward_ms == 0.3
