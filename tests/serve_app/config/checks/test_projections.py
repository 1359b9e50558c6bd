"""CFG-9: scores and bands."""

from __future__ import annotations

import pytest

from tests.doubles.router_yaml import Mistake, mistake

P = "recipes[0].projections"

CASES = [
    (
        "{type: complexity, name: difficulty, label: hard,",
        "{type: complexity, name: dificulty, label: hard,",
        f"{P}.scores[0].inputs[0].name",
        "no complexity rule",
        "difficulty",
    ),
    ("difficulty, label: hard,", "difficulty,", f"{P}.scores[0].inputs[0]", "needs a label", None),
    (
        "difficulty, label: hard,",
        "difficulty, label: herd,",
        f"{P}.scores[0].inputs[0].label",
        "no such label",
        "hard",
    ),
    (
        "{type: systemone, name: tools, weight",
        "{type: projection, name: big, weight",
        f"{P}.scores[0].inputs[1].type",
        "no such type",
        None,
    ),
    ("source: effort", "source: efort", f"{P}.mappings[0].source", "no such score", "effort"),
    (
        "{name: small, lt: 1}",
        "{name: small, gte: 1, lt: 1}",
        f"{P}.mappings[0].outputs[0]",
        "never holds",
        None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_projections_read_rules_and_bands_are_ranges(case: Mistake) -> None:
    """CFG-1, CFG-9"""
    mistake(case)
