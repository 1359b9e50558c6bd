"""How long signals are waited for: BUD-1 to BUD-3, on a virtual clock."""

from __future__ import annotations

import asyncio
from typing import Any

import looptime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import AnswerError
from serve_app.outcome import Outcome, Truth
from serve_app.signals.deadline import signal_deadline_s
from tests.doubles.recipes import ROUTED, compiled, deployments, remote, routed
from tests.doubles.scripted_ask import ScriptedAsk


@pytest.mark.parametrize(
    ("configured_ms", "request_s", "expected"),
    [
        (0, None, 45.0),
        (0, 30.0, 27.0),
        (0, 10.0, 9.0),
        (0, 5.0, 4.0),
        (0, 2.0, 1.0),
        (0, 1.0, 0.5),
        (0, 0.0, 0.0),
        (0, -1.0, 0.0),
        (2500, None, 2.5),
        (2500, 30.0, 2.5),
        (2500, 1.0, 1.0),
    ],
)
def test_the_signal_deadline(configured_ms: int, request_s: float | None, expected: float) -> None:
    """BUD-3: less a tenth of the time left, at least one second, at most half of it."""
    assert signal_deadline_s(configured_ms, request_s) == pytest.approx(expected)


@given(st.floats(0, 1e6), st.integers(0, 600_000))
def test_signals_never_outlive_the_request(request_s: float, configured_ms: int) -> None:
    assert 0 <= signal_deadline_s(configured_ms, request_s) <= request_s


def virtual(
    known: dict[str, Any], ask: ScriptedAsk, deadline_s: float | None = None, **fields: Any
) -> tuple[Outcome, float]:
    """The outcome, and the seconds it took."""
    recipe = compiled(known, default_model="endless", **fields)

    async def run() -> tuple[Outcome, float]:
        clock = asyncio.get_running_loop().time
        start = clock()
        outcome = await routed(recipe, ask, clock=clock, deadline_s=deadline_s)
        return outcome, clock() - start

    with asyncio.Runner(loop_factory=looptime.new_event_loop) as runner:
        return runner.run(run())


def two(first: dict[str, Any], second: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """A jailbreak and a fact_check rule, both read."""
    return {
        "signals": {"jailbreak": [{"name": "j", **first}], "fact_check": [{"name": "f", **second}]},
        "decisions": [
            {
                "name": "d",
                "rules": {
                    "conditions": [
                        {"type": "fact_check", "name": "f"},
                        {"type": "jailbreak", "name": "j"},
                    ]
                },
                **ROUTED,
            }
        ],
        **sections,
    }


YES = {"preset:jailbreak": 0.9, "preset:fact_check": 0.9}


def test_a_local_model_has_the_signal_deadline() -> None:
    """BUD-3"""
    ask = ScriptedAsk(YES, takes_s={"primary": 44.0})
    outcome, took = virtual(two({}, {}), ask)
    assert (outcome.decision, took) == ("d", 44.0)
    assert ask.calls[0].timeout_s == 45.0


def test_nothing_outlives_the_signal_deadline() -> None:
    """BUD-2, BUD-3: the call is given up, its questions are late, guards fail closed."""
    ask = ScriptedAsk(YES, takes_s={"primary": 60.0})
    outcome, took = virtual(two({}, {"timeout_ms": 60_000}), ask, deadline_s=5.0)
    assert took == pytest.approx(4.0)
    assert ask.cancelled == 1
    assert {rule.reason for rule in outcome.rules} == {AnswerError.DEADLINE_EXCEEDED}
    assert [rule.effective for rule in outcome.rules] == [Truth.TRUE, Truth.UNKNOWN]
    assert outcome.calls[0].ms == pytest.approx(4000)


def test_a_merged_call_waits_for_the_longest_of_its_rules_bounds() -> None:
    """BUD-3: the rule whose own bound passes earlier is unknown from then."""
    ask = ScriptedAsk(YES, takes_s={"primary": 0.5})
    outcome, took = virtual(two({"timeout_ms": 900}, {"timeout_ms": 400}), ask)
    assert (ask.calls[0].timeout_s, took) == (0.9, 0.5)
    assert [rule.verdict for rule in outcome.rules] == [Truth.TRUE, Truth.UNKNOWN]
    assert outcome.rules[1].reason is AnswerError.DEADLINE_EXCEEDED


def test_a_rule_without_a_bound_makes_the_call_wait_for_the_signal_deadline() -> None:
    """BUD-3"""
    ask = ScriptedAsk(YES, takes_s={"primary": 3.0})
    outcome, took = virtual(two({"timeout_ms": 900}, {}), ask)
    assert (ask.calls[0].timeout_s, took) == (45.0, 3.0)
    assert [rule.verdict for rule in outcome.rules] == [Truth.UNKNOWN, Truth.TRUE]


def test_a_local_deployments_own_timeout_does_not_bound_its_signals() -> None:
    """BUD-3: on a local model it bounds judges alone."""
    ask = ScriptedAsk(YES, takes_s={"primary": 3.0})
    outcome, _ = virtual(two({}, {}), ask, catalog=deployments("primary", timeout_ms=100))
    assert outcome.decision == "d"


FAR = {"deployment": "far"}


def with_remote(**fields: Any) -> dict[str, Any]:
    """``primary``, local, and ``far``, remote; ``fields`` are of the remote one."""
    catalog = deployments("primary")
    catalog["deployments"]["far"] = remote(**fields)
    return catalog


@pytest.mark.parametrize(
    ("rules", "deployment", "bound_s"),
    [
        (({}, {}), {}, 1.0),
        (({}, {}), {"timeout_ms": 2500}, 2.5),
        (({"timeout_ms": 700}, {"timeout_ms": 300}), {"timeout_ms": 2500}, 0.7),
        (({"timeout_ms": 300}, {}), {}, 1.0),
        (({"timeout_ms": 3000}, {}), {"timeout_ms": 2500}, 3.0),
        (({"timeout_ms": 60_000}, {}), {}, 45.0),
    ],
)
def test_a_remote_call_waits_for_the_rules_bound_else_the_deployments_else_a_second(
    rules: tuple[dict[str, Any], dict[str, Any]], deployment: dict[str, Any], bound_s: float
) -> None:
    """BUD-3: for the longest of its rules', and never beyond the signal deadline."""
    first, second = rules
    ask = ScriptedAsk(YES, takes_s={"far": 3600.0})
    catalog = with_remote(**deployment)
    outcome, took = virtual(two({**first, **FAR}, {**second, **FAR}), ask, catalog=catalog)
    assert (ask.calls[0].timeout_s, took, ask.cancelled) == (bound_s, bound_s, 1)
    assert {rule.reason for rule in outcome.rules} == {AnswerError.DEADLINE_EXCEEDED}


def test_a_rule_that_takes_the_remote_deployments_bound_is_unknown_from_then() -> None:
    """BUD-3: in a call that waits longer for another rule."""
    ask = ScriptedAsk(YES, takes_s={"far": 1.2})
    outcome, took = virtual(two({"timeout_ms": 2000, **FAR}, FAR), ask, catalog=with_remote())
    assert (ask.calls[0].timeout_s, took) == (2.0, 1.2)
    assert [rule.verdict for rule in outcome.rules] == [Truth.TRUE, Truth.UNKNOWN]
    assert outcome.rules[1].reason is AnswerError.DEADLINE_EXCEEDED


def test_a_local_call_beside_a_remote_one_keeps_the_signal_deadline() -> None:
    """BUD-3"""
    ask = ScriptedAsk(YES, takes_s={"primary": 5.0, "far": 3.0})
    outcome, took = virtual(two({}, FAR), ask, catalog=with_remote())
    assert {call.deployment: call.timeout_s for call in ask.calls} == {"primary": 45.0, "far": 1.0}
    assert took == 5.0
    assert [rule.verdict for rule in outcome.rules] == [Truth.TRUE, Truth.UNKNOWN]


@pytest.mark.parametrize(
    ("rule", "deployment", "bound_s"),
    [
        ({}, {}, 1.0),
        ({}, {"timeout_ms": 400}, 0.4),
        ({"timeout_ms": 5000}, {"timeout_ms": 400}, 5.0),
    ],
)
@pytest.mark.parametrize("provider", ["local", "remote"])
def test_a_judge_has_its_own_bound_else_its_deployments_else_a_second(
    rule: dict[str, Any], deployment: dict[str, Any], bound_s: float, provider: str
) -> None:
    """BUD-3: on a local model too."""
    catalog = deployments("primary")
    catalog["deployments"]["judge"] = (
        remote(**deployment)
        if provider == "remote"
        else deployments("judge", **deployment)["deployments"]["judge"]
    )
    known = {
        "decisions": [
            {
                "name": "d",
                "modelRefs": [{"model": "small"}, {"model": "large"}],
                "algorithm": {"type": "systemone", "deployment": "judge", **rule},
            }
        ],
    }
    ask = ScriptedAsk({"selector": "large"}, takes_s={"judge": 3600.0})
    outcome, took = virtual(known, ask, catalog=catalog)
    assert (outcome.models, took) == (("small",), bound_s)


def test_a_configured_signal_timeout_bounds_every_call() -> None:
    catalog = deployments("primary", "other") | {"signal_timeout_ms": 700}
    ask = ScriptedAsk(YES, takes_s={"primary": 0.2, "other": 9.0})
    outcome, took = virtual(two({}, {"deployment": "other"}), ask, catalog=catalog)
    assert took == pytest.approx(0.7)
    assert [rule.verdict for rule in outcome.rules] == [Truth.TRUE, Truth.UNKNOWN]


def test_calls_to_several_deployments_run_at_the_same_time() -> None:
    """COST-3"""
    ask = ScriptedAsk(YES, takes_s={"primary": 2.0, "other": 3.0})
    outcome, took = virtual(
        two({}, {"deployment": "other"}), ask, catalog=deployments("primary", "other")
    )
    assert (outcome.decision, took) == ("d", 3.0)
    assert len(outcome.calls) == 2


def test_a_late_selector_leaves_the_choice_to_the_files_order() -> None:
    """SEL-2, BUD-3: within what the signals left of the request's deadline."""
    known = {
        "signals": {"fact_check": [{"name": "f"}]},
        "decisions": [
            {
                "name": "d",
                "rules": {"conditions": [{"type": "fact_check", "name": "f"}]},
                "modelRefs": [{"model": "small"}, {"model": "large"}],
                "algorithm": {"type": "systemone", "deployment": "other", "timeout_ms": 5000},
            }
        ],
    }
    ask = ScriptedAsk(YES | {"selector": "large"}, takes_s={"primary": 2.0, "other": 9.0})
    outcome, took = virtual(known, ask, deadline_s=4.0, catalog=deployments("primary", "other"))
    assert (outcome.models, took) == (("small",), pytest.approx(4.0))
    assert outcome.stage_ms == pytest.approx({"signals": 2000, "selector": 2000})


async def test_a_request_that_is_given_up_cancels_its_calls() -> None:
    """BUD-4"""
    ask = ScriptedAsk(YES, takes_s={"primary": 3600.0})
    task = asyncio.create_task(routed(compiled(two({}, {})), ask))
    await ask.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ask.cancelled == 1
