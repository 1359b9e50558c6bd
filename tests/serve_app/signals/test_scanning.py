"""Scans driven in a request, and how they end: SCAN-3, SCAN-5, BUD-3, BUD-4."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from models.questions.types import AnswerError
from serve_app.message import Message
from serve_app.outcome import Truth
from serve_app.scan.speed import Speeds
from serve_app.signals.scanning import HEAD_START_S
from tests.doubles.long_inputs import (
    BLOCKED,
    PRIVATE,
    REST,
    SMALL,
    WINDOW,
    ReadingAsk,
    coverage,
    recipe,
    text_of,
)
from tests.doubles.recipes import ROUTED, compiled, deployments, routed

pytestmark = pytest.mark.looptime


async def test_at_most_so_many_windows_are_out_at_once() -> None:
    """SCAN-3"""
    ask = ReadingAsk(takes_s=lambda call: 0.1 + 0.01 * len(ask.calls))  # one is done at a time
    loop = asyncio.get_running_loop()
    settings = {"scan_window": {"tokens": 256, "overlap": 16, "max_parallel": 3}}
    await routed(recipe(BLOCKED, REST, **settings), ask, text_of(10), clock=loop.time)
    assert ask.most_out == 3


@pytest.mark.parametrize(("takes_s", "others_at"), [(0.4, 0.4), (5.0, HEAD_START_S)])
async def test_the_tail_is_out_alone_until_it_is_answered_or_had_its_start(
    takes_s: float, others_at: float
) -> None:
    """SCAN-2: calls that are sent at once may arrive in any order"""
    loop = asyncio.get_running_loop()
    began = loop.time()
    sent: list[float] = []

    def takes(call: Any) -> float:
        if "preset:jailbreak" in call.entries["1"].questions:
            sent.append(loop.time() - began)
        return takes_s

    text = text_of(10)
    ask = ReadingAsk(takes_s=takes)
    await routed(recipe(), ask, text, clock=loop.time)
    assert sent[0] == 0
    assert text.endswith(ask.windows[0])
    assert sent[1:4] == pytest.approx([others_at] * 3)


async def test_two_inputs_at_one_deployment_share_its_slots() -> None:
    """SCAN-3: all scans of a request together"""
    signals = {
        "jailbreak": [{"name": "attack"}],
        "pii": [{"name": "data", "input": {"tool_results": True}}],
    }
    private = {**PRIVATE, "rules": {"conditions": [{"type": "pii", "name": "data"}]}}
    message = Message(text_of(6), tool_results=(text_of(9),))
    ask = ReadingAsk(takes_s=lambda call: 1.0 + 0.1 * len(ask.calls))  # one is done at a time
    loop = asyncio.get_running_loop()
    known = recipe(BLOCKED, private, REST, signals=signals)
    outcome = await routed(known, ask, message, clock=loop.time)
    assert coverage(outcome) == {"jailbreak": "full", "pii": "full"}
    assert {tuple(c.entries["1"].questions) for c in ask.calls} == {
        ("preset:jailbreak",),
        ("preset:pii",),
    }
    assert ask.most_out == 4


async def test_a_match_that_refuses_ends_everything_at_once() -> None:
    """SCAN-5: what is out is cancelled, what waits is never sent, the other call too"""
    text = text_of(40)
    text = text[:-6] + "ATTACK"
    ask = ReadingAsk(takes_s=lambda call: 1.0 if ask.windows and ask.calls[0] is call else 9.0)
    loop = asyncio.get_running_loop()
    began = loop.time()
    outcome = await routed(recipe(), ask, text, clock=loop.time)
    assert outcome.fast is not None
    assert loop.time() - began == pytest.approx(1.0)
    assert ask.out == 0
    assert ask.cancelled == len(ask.calls) - 1
    assert len(ask.windows) == 4
    assert coverage(outcome) == {"jailbreak": "partial 1/43", "pii": "partial 1/43"}


async def test_a_match_that_refuses_nothing_lets_the_others_read_on() -> None:
    """SCAN-5: a decided rule is dropped from later windows"""
    ask = ReadingAsk()
    outcome = await routed(recipe(), ask, text_of(6)[:-4] + "DATA")
    assert outcome.decision == "private"
    assert coverage(outcome)["jailbreak"] == "full"
    asked = [tuple(c.entries["1"].questions) for c in ask.calls]
    assert asked.count(("preset:jailbreak",)) >= 3
    assert outcome.warnings == ("scan_partial",)


async def test_a_decision_before_the_refusing_one_keeps_the_scan_going() -> None:
    """SCAN-5: a match alone refuses only where no other decision stands before it"""
    first = {**PRIVATE, "priority": 20}
    ask = ReadingAsk()
    text = text_of(6)[:-6] + "ATTACK"
    outcome = await routed(recipe(BLOCKED, first, REST), ask, text)
    assert outcome.decision == "blocked"
    assert coverage(outcome)["pii"] == "full"


SSN_REFUSED: dict[str, Any] = {
    "name": "number",
    "priority": 10,
    "rules": {"conditions": [{"type": "safety", "name": "harm", "label": "violence"}]},
    "plugins": [{"type": "fast_response", "message": "No."}],
}


async def test_a_label_that_refuses_ends_the_scan_though_another_is_open() -> None:
    """SCAN-5: at once, whatever other conditions on the rule still wait for"""
    signals = {"safety": [{"name": "harm", "labels": ["violence", "hate"]}]}
    other = {
        "name": "other",
        "priority": 5,
        "rules": {"conditions": [{"type": "safety", "name": "harm", "label": "hate"}]},
        **ROUTED,
    }
    ask = ReadingAsk(sets={"violence": "ATTACK"})
    known = recipe(SSN_REFUSED, other, REST, signals=signals)
    outcome = await routed(known, ask, text_of(30)[:-6] + "ATTACK")
    assert outcome.decision == "number"
    assert len(ask.windows) <= 4


async def test_a_projection_reads_all_windows_and_no_band_refuses_before() -> None:
    """CFG-9, SCAN-4, SCAN-5: what unread windows may take back is no refusal"""
    signals = {"jailbreak": [{"name": "attack"}]}
    projections = {
        "scores": [
            {
                "name": "risk",
                "inputs": [{"type": "jailbreak", "name": "attack", "weight": 1.0}],
            }
        ],
        "mappings": [
            {
                "name": "bands",
                "source": "risk",
                "outputs": [
                    {"name": "suspicious", "gte": 0.5, "lt": 0.8},
                    {"name": "attack", "gte": 0.8},
                ],
            }
        ],
    }
    suspicious = {
        "name": "suspicious",
        "priority": 10,
        "rules": {"conditions": [{"type": "projection", "name": "suspicious"}]},
        "plugins": [{"type": "fast_response", "message": "No."}],
    }
    attack = {
        "name": "attack",
        "priority": 5,
        "rules": {"conditions": [{"type": "projection", "name": "attack"}]},
        **ROUTED,
    }
    catalog = deployments("primary", **SMALL)
    known = compiled(
        {
            "signals": signals,
            "projections": projections,
            "decisions": [suspicious, attack, REST],
        },
        catalog=catalog,
    )
    text = text_of(10, ATTACK=2_500)[:-5] + "MAYBE"
    outcome = await routed(known, ReadingAsk(), text)
    assert outcome.decision == "attack"
    assert coverage(outcome) == {"jailbreak": "full"}


async def test_every_window_is_among_the_calls_that_were_made() -> None:
    """API-9, COST-1"""
    ask = ReadingAsk()
    outcome = await routed(recipe(BLOCKED, REST), ask, text_of(5))
    assert len(outcome.calls) == len(ask.calls)
    assert {call.form for call in outcome.calls} == {"standard"}


async def test_a_request_that_is_given_up_leaves_no_call_behind() -> None:
    """BUD-4"""
    ask = ReadingAsk(takes_s=lambda call: 5.0)
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(routed(recipe(), ask, text_of(10), clock=loop.time))
    await asyncio.sleep(HEAD_START_S + 0.5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert ask.out == 0
    assert ask.cancelled == len(ask.calls) == 5


async def test_a_rules_own_bound_is_no_other_rules() -> None:
    """BUD-3, SIG-5: two rules that share a question"""
    signals = {
        "jailbreak": [
            {"name": "hasty", "timeout_ms": 100, "on_unknown": "no_match"},
            {"name": "attack", "predicate": {"gte": 0.6}},
        ]
    }
    hasty = {
        "name": "hasty",
        "rules": {"conditions": [{"type": "jailbreak", "name": "hasty"}]},
        **ROUTED,
    }
    ask = ReadingAsk(takes_s=lambda call: 0.3)
    loop = asyncio.get_running_loop()
    known = recipe(BLOCKED, hasty, REST, signals=signals)
    outcome = await routed(known, ask, text_of(4), clock=loop.time)
    found = {rule.name: (rule.verdict, str(rule.coverage)) for rule in outcome.rules}
    assert found["hasty"] == (Truth.UNKNOWN, "none")
    assert found["attack"] == (Truth.FALSE, "full")


async def test_each_deployment_has_its_own_slots() -> None:
    """SCAN-3: and a scan of one does not wait for another's"""
    signals = {"jailbreak": [{"name": "attack"}], "pii": [{"name": "data", "deployment": "other"}]}
    private = {**PRIVATE, "rules": {"conditions": [{"type": "pii", "name": "data"}]}}
    known = compiled(
        {"signals": signals, "decisions": [BLOCKED, private, REST]},
        catalog=deployments("primary", "other", **SMALL),
    )
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(known, ask, text_of(8), clock=loop.time)
    assert ask.most_out == 8
    assert {call.deployment for call in ask.calls} == {"primary", "other"}
    assert coverage(outcome) == {"jailbreak": "full", "pii": "full"}


async def test_a_window_that_cannot_be_read_is_unknown_whatever_the_others_say() -> None:
    """COV-1: invalid_input instead of best effort, and the guard fails closed"""
    fails = lambda text: AnswerError.INVALID_INPUT if "OPAQUE" in text else None  # noqa: E731
    ask = ReadingAsk(fails=fails)
    outcome = await routed(recipe(BLOCKED, REST), ask, text_of(6, OPAQUE=3_000))
    attack = next(rule for rule in outcome.rules if rule.type == "jailbreak")
    assert (attack.verdict, attack.reason) == (Truth.UNKNOWN, AnswerError.INVALID_INPUT)
    assert outcome.fast is not None


async def test_a_deadline_that_has_passed_reads_nothing_and_fails_closed() -> None:
    """COV-3, BUD-3"""
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(recipe(BLOCKED, REST), ask, text_of(6), clock=loop.time, deadline_s=0.0)
    assert coverage(outcome)["jailbreak"] == "none"
    assert outcome.fast is not None
    assert ask.out == 0


async def test_a_scan_that_is_late_merges_by_what_calls_of_other_sizes_took() -> None:
    """SCAN-9: the speed is the deployment's, measured in requests before"""
    settings = {
        "scan_window": {"tokens": 256, "overlap": 16, "max_tokens": 1_024},
        "routing_view": {"max_tokens": 1_024},
    }
    known = recipe(BLOCKED, PRIVATE, REST, **settings)
    size = lambda call: len(str(call.entries["1"].state["request"]))  # noqa: E731
    ask = ReadingAsk(takes_s=lambda call: 1.0 + size(call) / 100_000)
    loop = asyncio.get_running_loop()
    speeds = Speeds()
    for windows in (2, 3, 4):
        await routed(known, ask, text_of(windows), clock=loop.time, speeds=speeds)
    ask.calls.clear()
    outcome = await routed(known, ask, text_of(60), clock=loop.time, deadline_s=12.0, speeds=speeds)
    assert coverage(outcome)["jailbreak"] == "full"
    assert max(len(window) for window in ask.windows) == 2 * WINDOW - 64
    assert [len(window) for window in ask.windows[:2]] == [WINDOW, WINDOW]
