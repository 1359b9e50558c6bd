"""How sure a decision is: HDR-2."""

from __future__ import annotations

from typing import Any

import pytest

from tests.doubles.recipes import ROUTED, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

A, B = {"type": "systemone", "name": "a"}, {"type": "systemone", "name": "b"}
HARD = {"type": "complexity", "name": "d", "label": "hard"}
ATTACK = {"type": "jailbreak", "name": "attack"}
WORD = {"type": "keywords", "name": "w"}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"conditions": [A]}, 0.9),
        ({"conditions": [A, HARD]}, 0.6),
        ({"operator": "OR", "conditions": [B, A]}, 0.9),
        ({"conditions": [A, {"operator": "NOT", "conditions": [B]}]}, 0.9),
        ({"conditions": [{"operator": "NOT", "conditions": [B]}]}, None),
        ({"conditions": [WORD]}, None),
        ({"conditions": [ATTACK]}, None),
        ({"conditions": [ATTACK, A]}, 0.9),
        ({}, None),
    ],
    ids=str,
)
async def test_confidence_is_the_least_probability_of_what_matched(
    rules: dict[str, Any], expected: float | None
) -> None:
    """The jailbreak rule has no answer here and counts as a match without a probability."""
    known = {
        "signals": {
            "systemone": [
                {"name": n, "question": {"type": "noul", "instructions": n}} for n in "ab"
            ],
            "complexity": [{"name": "d"}],
            "jailbreak": [{"name": "attack"}],
            "keywords": [{"name": "w", "keywords": ["word"]}],
        },
        "decisions": [{"name": "it", "rules": rules, **ROUTED}],
    }
    ask = ScriptedAsk({"systemone:a": 0.9, "systemone:b": 0.2, "preset:complexity": {"hard": 0.6}})
    outcome = await routed(compiled(known), ask, "a word")
    assert outcome.decision == "it"
    assert outcome.confidence == expected
