"""Every call of ``calls.yaml`` is made exactly, and no other: SIG-1 to SIG-6, MRG-1, MRG-2."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from serve_app.asking.call import Call
from serve_app.config.cards import cards_of
from serve_app.config.loading import load_text
from serve_app.deployments.api.naming import Names
from serve_app.outcome import Outcome
from serve_app.recipe import compile_recipe
from serve_app.wire.chat.request import read_message
from serve_app.wire.envelope import read_envelope
from tests.doubles.recipes import card, routed
from tests.doubles.scripted_ask import ScriptedAsk, calm
from tests.serve_app.golden.table import CASES, Case, Request, made, written

REQUIREMENTS = {f"SIG-{n}" for n in range(1, 7)} | {
    *("MRG-1", "MRG-2", "COST-1", "COST-3", "CFG-6", "SEL-1", "BUD-3")
}
ROWS = [
    pytest.param(case, request, id=f"{case.name} [{number}]")
    for case in CASES
    for number, request in enumerate(case.requests, 1)
]


async def answered(case: Case, request: Request) -> tuple[Outcome, list[Call]]:
    """What a router of the case's file makes of the request, and the calls it makes for it.

    The file and the body are read as they are in service, the message narrowed to what the recipe
    reads as on its way to the planner.
    """
    shipped = {"embedded": card(**case.card)}
    config = load_text(json.dumps(case.document()), "router.yaml", cards=shipped, environ={}).config
    cards = cards_of(config.global_.model_catalog, shipped)
    names = Names(config, cards)
    chat = read_envelope(request.body)
    if names.recipe(chat.model) is None:
        return names.unrouted(chat.model, "test"), []
    recipe = compile_recipe(config.recipes[0], config, cards)
    message = recipe.reads.narrow(read_message(chat.body, names.headers_read(request.headers)))
    ask = ScriptedAsk(request.answers, otherwise=calm)
    outcome = await routed(recipe, ask, message, deadline_s=request.deadline_s, explain=False)
    return outcome, ask.calls


def text(calls: Sequence[dict[str, Any]]) -> str:
    """As JSON: other than of equal dictionaries, the order of members counts."""
    return json.dumps(calls, indent=1, ensure_ascii=False)


@pytest.mark.parametrize(("case", "asked"), ROWS)
async def test_the_calls_are_those_of_the_table(case: Case, asked: Request) -> None:
    outcome, calls = await answered(case, asked)
    expected = [written(call) for call in asked.calls]
    told = outcome.calls
    found = [made(t.stage, t.form, call) for t, call in zip(told, calls, strict=True)]
    assert text(found) == text(expected)
    if "decision" in asked.model_fields_set:
        assert outcome.decision == asked.decision
    if "model" in asked.model_fields_set:
        assert (*outcome.models, None)[0] == asked.model
    assert [(t.deployment, t.questions) for t in told] == [
        (call["deployment"], {n: tuple(e["questions"]) for n, e in call["entries"].items()})
        for call in expected
    ]


@pytest.mark.parametrize(("case", "asked"), ROWS)
async def test_the_order_of_rules_in_the_file_changes_no_call(case: Case, asked: Request) -> None:
    """SIG-4"""
    _, calls = await answered(case, asked)
    _, others = await answered(case.backwards(), asked)
    assert others == calls
    assert [list(e.questions) for c in others for e in c.entries.values()] == [
        list(e.questions) for c in calls for e in c.entries.values()
    ]


def test_the_table_covers_its_requirements() -> None:
    assert {id for case in CASES for id in case.covers} >= REQUIREMENTS
    assert len({case.name for case in CASES}) == len(CASES) >= 20
