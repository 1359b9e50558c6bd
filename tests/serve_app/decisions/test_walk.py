"""Which decision is taken, and what an unknown root does: DEC-1, UNK-2, CFG-7, CFG-8."""

from __future__ import annotations

from typing import Any

import pytest

from serve_app.errors import Code
from serve_app.outcome import Truth
from tests.doubles.recipes import ROUTED, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

SIGNALS = {
    "fact_check": [{"name": "facts"}],
    "systemone": [
        {"name": n, "question": {"type": "noul", "instructions": f"Is it {n}?"}} for n in "ab"
    ],
}


def decision(
    name: str, *conditions: dict[str, Any], priority: int = 0, **rules: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "priority": priority,
        "rules": {"conditions": list(conditions), **rules},
        **ROUTED,
    }


def own(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "systemone", "name": name, **fields}


def recipe(*decisions: dict[str, Any]) -> dict[str, Any]:
    return {"signals": SIGNALS, "decisions": list(decisions)}


YES_A_AND_B = ScriptedAsk({"systemone:a": 0.9, "systemone:b": 0.9})


async def test_the_highest_priority_that_matches_is_taken() -> None:
    known = recipe(
        decision("low", own("a"), priority=1),
        decision("high", own("b"), priority=2),
        decision("highest", {"type": "fact_check", "name": "facts"}, priority=3),
    )
    ask = ScriptedAsk({"systemone:a": 0.9, "systemone:b": 0.9, "preset:fact_check": 0.1})
    outcome = await routed(compiled(known), ask)
    assert outcome.decision == "high"
    assert [d.name for d in outcome.decisions] == ["highest", "high", "low"]
    assert [d.taken for d in outcome.decisions] == [False, True, False]


async def test_ties_keep_the_files_order() -> None:
    known = recipe(decision("first", own("a")), decision("second", own("b")))
    assert (await routed(compiled(known), YES_A_AND_B)).decision == "first"


async def test_catch_alls_come_last_whatever_their_priority() -> None:
    known = recipe(decision("rest", priority=1000), decision("a", own("a"), priority=-5))
    assert (await routed(compiled(known), YES_A_AND_B)).decision == "a"
    assert (await routed(compiled(known), ScriptedAsk({"systemone:a": 0.1}))).decision == "rest"


async def test_without_a_match_the_default_model_answers() -> None:
    """DEC-2"""
    known = recipe(decision("a", own("a")))
    outcome = await routed(
        compiled(known, default_model="small"), ScriptedAsk({"systemone:a": 0.0})
    )
    assert (outcome.decision, outcome.models, outcome.refused) == (None, ("small",), None)


async def test_without_a_default_model_the_error_names_what_was_tried() -> None:
    """DEC-2"""
    known = recipe(decision("a", own("a")), decision("b", own("b")))
    ask = ScriptedAsk({"systemone:a": 0.0, "systemone:b": 0.0})
    outcome = await routed(compiled(known), ask)
    assert outcome.refused is not None
    assert outcome.refused.code is Code.NO_DECISION
    assert "tried: a, b" in outcome.refused.message
    assert outcome.models == ()


ROOT_POLICY = {
    None: Truth.FALSE,
    "no_match": Truth.FALSE,
    "match": Truth.TRUE,
    "fail_request": None,
}


@pytest.mark.parametrize("on_unknown", ROOT_POLICY)
async def test_an_unknown_root_follows_its_policy(on_unknown: str | None) -> None:
    """UNK-2: ``fail_request`` is 503, the others a match or none."""
    known = recipe(decision("a", own("a"), on_unknown=on_unknown), decision("rest"))
    outcome = await routed(compiled(known), ScriptedAsk())
    expected = ROOT_POLICY[on_unknown]
    if expected is None:
        assert outcome.refused is not None
        assert outcome.refused.code is Code.GUARD_UNAVAILABLE
        assert (outcome.decision, outcome.models) == (None, ())
        assert outcome.decisions[0].truth is Truth.UNKNOWN
    else:
        assert outcome.decision == ("a" if expected is Truth.TRUE else "rest")
        assert outcome.decisions[0].truth is expected
    assert outcome.decisions[0].tree.truth is Truth.UNKNOWN


async def test_a_roots_policy_waits_until_the_walk_reaches_it() -> None:
    """UNK-2: a decision taken before spares the request a ``fail_request`` behind it."""
    known = recipe(
        decision("b", own("b"), priority=2),
        decision("a", own("a"), priority=1, on_unknown="fail_request"),
    )
    outcome = await routed(compiled(known), ScriptedAsk({"systemone:b": 0.9}))
    assert (outcome.decision, outcome.refused) == ("b", None)
    assert outcome.decisions[1].truth is Truth.UNKNOWN


LEAF_POLICY = {None: Truth.UNKNOWN, "match": Truth.TRUE, "no_match": Truth.FALSE}


@pytest.mark.parametrize("on_error", LEAF_POLICY)
async def test_a_conditions_policy_resolves_its_leaf(on_error: str | None) -> None:
    """UNK-2, CFG-7"""
    known = recipe(decision("a", own("a", on_error=on_error)), decision("rest"))
    outcome = await routed(compiled(known), ScriptedAsk())
    assert outcome.decisions[0].tree.children[0].truth is LEAF_POLICY[on_error]
    assert outcome.decision == ("a" if on_error == "match" else "rest")
    (rule,) = outcome.rules
    assert (rule.verdict, rule.effective) == (Truth.UNKNOWN, Truth.UNKNOWN)


async def test_unknown_is_carried_through_not() -> None:
    """UNK-1: a guard turned round does not let a request through for want of an answer."""
    known = recipe(decision("safe", own("a"), operator="NOT"), decision("rest"))
    assert (await routed(compiled(known), ScriptedAsk())).decision == "rest"
    assert (await routed(compiled(known), ScriptedAsk({"systemone:a": 0.1}))).decision == "safe"


async def test_a_decision_may_answer_itself() -> None:
    """CFG-8"""
    known = recipe(
        {
            "name": "a",
            "rules": {"conditions": [own("a")]},
            "plugins": [{"type": "fast_response", "message": "No.", "status": 403}],
        }
    )
    outcome = await routed(compiled(known), YES_A_AND_B)
    assert outcome.fast is not None
    assert (outcome.fast.message, outcome.fast.status) == ("No.", 403)
    assert (outcome.models, outcome.plugins) == ((), ("fast_response",))
