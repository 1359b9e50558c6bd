"""One request, top to bottom: DEC-1, COST-1, MRG-1, API-9, CFG-3."""

from __future__ import annotations

from itertools import count
from typing import Any

from serve_app.message import Message, Role, Turn
from tests.doubles.recipes import card, compiled, deployments, routed
from tests.doubles.scripted_ask import ScriptedAsk

EXAMPLE: dict[str, Any] = {
    "signals": {
        "domains": [{"name": "math", "labels": ["math"]}],
        "jailbreak": [{"name": "attack"}],
        "complexity": [{"name": "difficulty"}],
        "systemone": [
            {
                "name": "needs_tools",
                "question": {
                    "type": "noul",
                    "instructions": "Does answering this request need a tool call?",
                },
                "predicate": {"gte": 0.7},
            }
        ],
    },
    "decisions": [
        {
            "name": "blocked",
            "priority": 1000,
            "rules": {"conditions": [{"type": "jailbreak", "name": "attack"}]},
            "plugins": [{"type": "fast_response", "message": "I can't help with that."}],
        },
        {
            "name": "hard-math",
            "priority": 200,
            "rules": {
                "operator": "AND",
                "conditions": [
                    {"type": "domain", "name": "math"},
                    {"type": "complexity", "name": "difficulty", "label": "hard"},
                ],
            },
            "modelRefs": [{"model": "large"}],
        },
        {
            "name": "agentic",
            "priority": 100,
            "rules": {"conditions": [{"type": "systemone", "name": "needs_tools"}]},
            "modelRefs": [{"model": "small"}, {"model": "large"}],
            "algorithm": {"type": "systemone", "deployment": "other"},
        },
    ],
}
CALM = {
    "preset:domain": "law",
    "preset:jailbreak": 0.1,
    "preset:complexity": "easy",
    "systemone:needs_tools": 0.2,
}
CATALOG = deployments("primary", "other")


async def test_the_example_of_the_configuration_is_decided_in_one_call() -> None:
    """SIG-3, COST-1: the call the request stage's page shows, with its trained ids."""
    trained = card(trained_ids={p: p for p in ("domain", "jailbreak", "complexity")})
    known = compiled(EXAMPLE, catalog=CATALOG, cards={"primary": trained})
    ask = ScriptedAsk(
        {"domain": "math", "jailbreak": 0.1, "complexity": "hard", "systemone:needs_tools": 0.2}
    )
    text = "Prove that the square root of 2 is irrational."
    outcome = await routed(known, ask, text)
    assert (outcome.decision, outcome.models) == ("hard-math", ("large",))
    (call,) = ask.calls
    assert call.entries["1"].state == {"request": text}
    assert list(call.entries["1"].questions) == [
        "domain",
        "jailbreak",
        "complexity",
        "systemone:needs_tools",
    ]
    assert outcome.confidence == 0.9
    assert {rule.type: rule.verdict for rule in outcome.rules}["domain"] == "match"


async def test_a_selector_is_a_call_of_its_own_after_the_match() -> None:
    """SEL-1, MRG-1"""
    ask = ScriptedAsk(CALM | {"systemone:needs_tools": 0.8, "selector": "large"})
    outcome = await routed(compiled(EXAMPLE, catalog=CATALOG), ask)
    assert (outcome.decision, outcome.models) == ("agentic", ("large",))
    assert [(c.stage, c.deployment) for c in outcome.calls] == [
        ("signals", "primary"),
        ("selector", "other"),
    ]


async def test_a_decision_that_does_not_match_runs_no_selector() -> None:
    """COST-1"""
    ask = ScriptedAsk(CALM)
    outcome = await routed(compiled(EXAMPLE, catalog=CATALOG, default_model="small"), ask)
    assert (outcome.decision, outcome.models, len(ask.calls)) == (None, ("small",), 1)


async def test_explaining_changes_nothing_but_the_explanation() -> None:
    """API-9"""
    known = compiled(EXAMPLE, catalog=CATALOG, default_model="small")
    plain = await routed(known, ScriptedAsk(CALM), explain=False)
    full = await routed(known, ScriptedAsk(CALM), explain=True)
    assert plain.decisions == ()
    assert [d.name for d in full.decisions] == ["blocked", "hard-math", "agentic"]
    for name in ("decision", "models", "rules", "calls", "confidence", "ranking"):
        assert getattr(plain, name) == getattr(full, name)


async def test_the_stages_are_timed() -> None:
    """API-8: ``signals`` and ``selector`` of ``Server-Timing``."""
    ask = ScriptedAsk(CALM | {"systemone:needs_tools": 0.8, "selector": "large"})
    ticks = count()
    outcome = await routed(
        compiled(EXAMPLE, catalog=CATALOG), ask, clock=lambda: float(next(ticks))
    )
    assert set(outcome.stage_ms) == {"signals", "selector"}
    assert all(ms > 0 for ms in outcome.stage_ms.values())


async def test_equal_requests_have_equal_outcomes() -> None:
    """SIG-4: and so have requests that differ in what the recipe does not read."""
    known = compiled(EXAMPLE, catalog=CATALOG, default_model="small")
    first, second = ScriptedAsk(CALM), ScriptedAsk(CALM)
    a = await routed(known, first, Message("x"))
    b = await routed(
        known, second, Message("x", earlier=(Turn(Role.USER, "y"),), metadata={"k": "v"})
    )
    assert (a, first.calls) == (b, second.calls)


def test_a_recipe_names_the_decision_models_it_may_ask() -> None:
    """SRV-1: others need not be started for it."""
    assert compiled(EXAMPLE, catalog=CATALOG).deployments == {"primary", "other"}
    assert compiled({}, catalog=CATALOG).deployments == frozenset()
