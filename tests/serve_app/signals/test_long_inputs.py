"""What becomes of a request with a long input: SCAN-4, COV-1 to COV-4."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from models.questions.types import AnswerError
from serve_app.outcome import Outcome, Truth
from serve_app.recipe import CompiledRecipe
from serve_app.wire.preview import preview_body
from tests.doubles.long_inputs import (
    BLOCKED,
    REST,
    SMALL,
    WINDOW,
    ReadingAsk,
    coverage,
    recipe,
    text_of,
)
from tests.doubles.recipes import ROUTED, card, compiled, deployments, routed

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize("at", [0, 1_000, 2_500, 4_000])
async def test_an_attack_anywhere_refuses(at: int) -> None:
    """SCAN-4, SCAN-5"""
    outcome = await routed(recipe(), ReadingAsk(), text_of(5, ATTACK=at))
    assert outcome.fast is not None
    assert outcome.decision == "blocked"
    assert outcome.warnings == ()


async def test_a_deadline_judges_by_the_windows_read_and_says_so() -> None:
    """COV-1, COV-4: a request that is routed warns"""
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(recipe(), ask, text_of(40), clock=loop.time, deadline_s=10.5)
    assert outcome.decision == "rest"
    assert outcome.warnings == ("scan_partial",)
    read = coverage(outcome)["jailbreak"]
    assert read == "partial 33/43"


async def test_too_little_read_fails_closed() -> None:
    """COV-2"""
    signals = {"jailbreak": [{"name": "attack", "min_coverage": 0.9}]}
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(
        recipe(BLOCKED, REST, signals=signals), ask, text_of(40), clock=loop.time, deadline_s=5.0
    )
    (attack,) = outcome.rules
    assert (attack.verdict, attack.effective) == (Truth.UNKNOWN, Truth.TRUE)
    assert attack.reason is AnswerError.DEADLINE_EXCEEDED
    assert outcome.fast is not None


async def test_without_a_window_read_guards_fail_closed_and_safety_is_unknown() -> None:
    """COV-3, UNK-3, UNK-4"""
    signals = {"jailbreak": [{"name": "attack"}], "safety": [{"name": "harm"}]}
    harmful = {
        "name": "harmful",
        "rules": {"conditions": [{"type": "safety", "name": "harm"}]},
        **ROUTED,
    }
    ask = ReadingAsk(fails=lambda text: AnswerError.UNAVAILABLE)
    outcome = await routed(recipe(BLOCKED, harmful, REST, signals=signals), ask, text_of(3))
    attack, harm = outcome.rules
    assert outcome.fast is not None
    assert (attack.effective, harm.effective) == (Truth.TRUE, Truth.UNKNOWN)
    assert coverage(outcome) == {"jailbreak": "none", "safety": "none"}


def strict(**policy: Any) -> CompiledRecipe:
    """A guard that counts as a match for want of windows; its card has a threshold for them."""
    signals = {"jailbreak": [{"name": "attack", **policy}]}
    return compiled(
        {"signals": signals, "decisions": [BLOCKED, REST]},
        catalog=deployments("primary", **SMALL),
        cards={
            "primary": card(thresholds={"jailbreak": 0.3}, window_thresholds={"jailbreak": 0.95})
        },
    )


async def partly(known: CompiledRecipe) -> Outcome:
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    return await routed(known, ask, text_of(40), clock=loop.time, deadline_s=5.0)


async def test_windows_are_compared_with_their_own_threshold_and_it_is_shown() -> None:
    """SCAN-4: in the preview too, and of a guard that has no answer"""
    outcome = await routed(strict(), ReadingAsk(), text_of(3)[:-5] + "MAYBE")
    (attack,) = outcome.rules
    assert (attack.value, attack.threshold, attack.verdict) == (0.6, 0.95, Truth.FALSE)
    (unread,) = (await partly(strict(min_coverage=0.9))).rules
    assert (unread.verdict, unread.threshold) == (Truth.UNKNOWN, 0.95)
    (short,) = (await routed(strict(), ReadingAsk(), "MAYBE")).rules
    assert (short.threshold, short.verdict) == (0.3, Truth.TRUE)


async def test_a_match_for_want_of_windows_rests_on_no_probability() -> None:
    """COV-1, HDR-2, API-9: and no change of a value would take another decision"""
    outcome = await partly(strict(on_unscanned="match"))
    assert outcome.decision == "blocked"
    assert outcome.confidence is None
    assert all(decision.nearest is None for decision in outcome.decisions)


async def test_a_guard_that_another_guards_refusal_cut_off_is_shown_like_any_that_was_asked() -> (
    None
):
    """API-9, COV-4, SCAN-5: with what it was asked, where, and what it would have had to reach"""
    signals = {"jailbreak": [{"name": "attack"}], "pii": [{"name": "data", "deployment": "other"}]}
    private = {
        "name": "private",
        "priority": 5,
        "rules": {"conditions": [{"type": "pii", "name": "data"}]},
        **ROUTED,
    }
    known = compiled(
        {"signals": signals, "decisions": [BLOCKED, private, REST]},
        catalog=deployments("primary", "other", **SMALL),
        cards={"other": card(thresholds={"pii": 0.3}, window_thresholds={"pii": 0.95})},
    )
    ask = ReadingAsk(takes_s=lambda call: 1.0 if call.deployment == "primary" else 9.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(known, ask, text_of(5)[:-6] + "ATTACK", clock=loop.time)
    assert outcome.fast is not None
    shown = preview_body(outcome, "upstream")["rules"]
    (data,) = [rule for rule in shown if rule["type"] == "pii"]
    assert (data["question_id"], data["deployment"]) == ("preset:pii", "other")
    assert (data["threshold"], data["value"], data["margin"]) == (0.95, None, None)
    assert (data["verdict"], data["effective"], data["reason"]) == ("unknown", "unknown", None)
    assert coverage(outcome)["pii"] == "none"


@pytest.mark.parametrize(("on_unscanned", "decision"), [("best_effort", "rest"), ("match", None)])
async def test_a_reread_that_fails_is_left_to_the_rules_policy(
    on_unscanned: str, decision: str | None
) -> None:
    """SCAN-8, COV-1: also where every window was read"""
    half = range(WINDOW // 2, WINDOW // 2 + 30)  # with the state's key
    ask = ReadingAsk(fails=lambda text: AnswerError.UNAVAILABLE if len(text) in half else None)
    text = text_of(3)[:-5] + "MAYBE"
    outcome = await routed(strict(on_unscanned=on_unscanned), ask, text)
    assert coverage(outcome) == {"jailbreak": "full"}
    assert outcome.decision == (decision or "blocked")
    assert (outcome.fast is None) is (decision is not None)


@pytest.mark.parametrize(
    ("on_unknown", "decision"), [("match", "blocked"), ("no_match", "rest"), (None, "blocked")]
)
async def test_unread_windows_that_are_unknown_hand_over_to_on_unknown(
    on_unknown: str | None, decision: str
) -> None:
    """COV-1, UNK-3"""
    policy = {} if on_unknown is None else {"on_unknown": on_unknown}
    outcome = await partly(strict(on_unscanned="unknown", **policy))
    (attack,) = outcome.rules
    assert (attack.verdict, attack.reason) == (Truth.UNKNOWN, AnswerError.DEADLINE_EXCEEDED)
    assert coverage(outcome)["jailbreak"].startswith("partial")
    assert outcome.decision == decision
