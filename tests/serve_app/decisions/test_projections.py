"""Projections: CFG-9, SIG-1."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import AnswerError, ErrorAnswer
from serve_app.decisions.projections import Score, Term
from serve_app.message import Message
from serve_app.outcome import Truth
from serve_app.reading import Criterion, Reading
from tests.doubles.recipes import ROUTED, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

values = st.lists(st.floats(0, 1), min_size=1, max_size=6)
weights = st.floats(-10, 10)


@given(values, st.data())
def test_a_score_is_the_weighted_sum_of_its_inputs(
    given_values: list[float], data: st.DataObject
) -> None:
    ws = [data.draw(weights) for _ in given_values]
    terms = [Term("x:y", i, Criterion((0,), None), w) for i, w in enumerate(ws)]
    value = Score("s", tuple(terms)).value([Reading((v,)) for v in given_values])
    assert value is not None
    expected = math.fsum(v * w for v, w in zip(given_values, ws, strict=True))
    assert value == pytest.approx(expected, abs=1e-9)


@given(values, st.data())
def test_one_unknown_input_makes_the_score_unknown(
    given_values: list[float], data: st.DataObject
) -> None:
    terms = tuple(Term("x:y", i, Criterion((0,), None), 1.0) for i in range(len(given_values)))
    readings: list[Reading | None] = [Reading((v,)) for v in given_values]
    readings[data.draw(st.integers(0, len(readings) - 1))] = Reading(reason=AnswerError.UNAVAILABLE)
    assert Score("s", terms).value(readings) is None


RISK: dict[str, Any] = {
    "signals": {
        "jailbreak": [{"name": "attack"}],
        "domains": [{"name": "subject"}],
        "keywords": [{"name": "bomb", "keywords": ["bomb"]}],
        "systemone": [
            {
                "name": "severity",
                "question": {
                    "type": "score",
                    "instructions": "How bad?",
                    "levels": ["a", "b", "c"],
                },
                "predicate": {"gte": 1},
            }
        ],
    },
    "projections": {
        "scores": [
            {
                "name": "risk",
                "inputs": [
                    {"type": "jailbreak", "name": "attack", "weight": 1},
                    {"type": "domain", "name": "subject", "label": "chemistry", "weight": 0.5},
                    {"type": "keywords", "name": "bomb", "weight": 0.25},
                    {"type": "systemone", "name": "severity", "weight": 0.1},
                ],
            }
        ],
        "mappings": [
            {
                "name": "risk_bands",
                "source": "risk",
                "outputs": [
                    {"name": "low", "lt": 0.5},
                    {"name": "middle", "gte": 0.5, "lt": 1.0},
                    {"name": "high", "gte": 1.0},
                ],
            }
        ],
    },
    "decisions": [
        {
            "name": band,
            "rules": {"conditions": [{"type": "projection", "name": band}]},
            **ROUTED,
        }
        for band in ("low", "middle", "high")
    ],
}


@pytest.mark.parametrize(
    ("attack", "chemistry", "text", "severity", "band"),
    [
        (0.1, 0.2, "hello", 0.0, "low"),  # 0.2
        (0.1, 0.2, "a bomb", 0.5, "middle"),  # 0.2 + 0.25 + 0.05: the band's own bound
        (0.6, 0.4, "a bomb", 0.0, "high"),  # 1.05
        (0.6, 0.2, "a bomb", 0.0, "middle"),  # 0.95
    ],
)
async def test_bands_turn_a_score_into_conditions(
    attack: float, chemistry: float, text: str, severity: float, band: str
) -> None:
    """A label reads that option's probability, a keyword counts as 1, a score its level."""
    ask = ScriptedAsk(
        {
            "preset:jailbreak": attack,
            "preset:domain": {"chemistry": chemistry},
            "systemone:severity": severity,
        }
    )
    outcome = await routed(compiled(RISK), ask, text)
    assert outcome.decision == band


async def test_rules_that_only_a_projection_reads_are_asked() -> None:
    """SIG-1"""
    ask = ScriptedAsk()
    await routed(compiled(RISK), ask)
    (call,) = ask.calls
    assert set(call.entries["1"].questions) == {
        "preset:jailbreak",
        "preset:domain",
        "systemone:severity",
    }


UNANSWERED_ATTACK = {
    "preset:jailbreak": ErrorAnswer(AnswerError.OVERLOADED),
    "preset:domain": {"law": 0.9},
    "systemone:severity": 0.0,
}


def with_attack(**fields: Any) -> dict[str, Any]:
    """``RISK``; ``fields``: of its rule about an attack."""
    return {**RISK, "signals": {**RISK["signals"], "jailbreak": [{"name": "attack", **fields}]}}


@pytest.mark.parametrize(
    ("fields", "band"),
    [({}, "high"), ({"on_unknown": "match"}, "high"), ({"on_unknown": "no_match"}, "low")],
)
async def test_a_guard_without_an_answer_counts_in_a_score_as_its_own_policy_says(
    fields: dict[str, Any], band: str
) -> None:
    """UNK-2, UNK-3, CFG-9: one that fails closed does so through a projection too."""
    recipe = compiled(with_attack(**fields), default_model="endless")
    outcome = await routed(recipe, ScriptedAsk(UNANSWERED_ATTACK))
    assert outcome.decision == band
    assert all(d.tree.children[0].truth is not Truth.UNKNOWN for d in outcome.decisions)


async def test_a_rule_without_a_policy_of_its_own_makes_the_score_unknown() -> None:
    """UNK-4, CFG-9"""
    ask = ScriptedAsk(UNANSWERED_ATTACK | {"preset:domain": ErrorAnswer(AnswerError.OVERLOADED)})
    outcome = await routed(compiled(RISK, default_model="endless"), ask)
    assert outcome.decision is None
    assert {d.tree.children[0].truth for d in outcome.decisions} == {Truth.UNKNOWN}


async def test_a_choice_without_a_label_counts_with_its_winners_probability() -> None:
    recipe = RISK | {
        "projections": {
            "scores": [
                {"name": "sure", "inputs": [{"type": "domain", "name": "subject", "weight": 1}]}
            ],
            "mappings": [
                {
                    "name": "m",
                    "source": "sure",
                    "outputs": [{"name": "low", "gte": 0.79, "lt": 0.81}],
                }
            ],
        },
        "decisions": RISK["decisions"][:1],
    }
    ask = ScriptedAsk({"preset:domain": {"law": 0.8}})
    outcome = await routed(compiled(recipe), ask, Message("hi"))
    assert outcome.decision == "low"
