"""CFG-5: predicates that can come out either way."""

from __future__ import annotations

import pytest

from tests.doubles.router_yaml import Mistake, mistake

S = "recipes[0].signals"

CASES = [
    ("{gt: 0.4}", "{gt: 1.4}", f"{S}.domains[0].predicate.gt", "out of range: 0 to 1", None),
    ("{gt: 0.4}", "{gt: 1}", f"{S}.domains[0].predicate", "can never hold", None),
    ("{gt: 0.4}", "{gt: 0.4, lt: 0.4}", f"{S}.domains[0].predicate", "can never hold", None),
    ("{gt: 0.4}", "{gte: 0.4, lt: 0.4}", f"{S}.domains[0].predicate", "can never hold", None),
    (
        "{gte: 0.6, lt: 0.9}",
        "{gt: 0.9, lt: 0.1}",
        f"{S}.fact_check[0].predicate",
        "never hold",
        None,
    ),
    ("{gt: 0.4}", "{}", f"{S}.domains[0].predicate", "compares nothing", None),
    ("{gt: 0.4}", "{above: 0.4}", f"{S}.domains[0].predicate.above", "unknown key", None),
    ("timeout_ms: 500", "predicate: {lte: 0.5}", f"{S}.jailbreak[0].predicate.lte", "guard", None),
    ("{gte: 1.5}", "{gte: 2.5}", f"{S}.systemone[1].predicate.gte", "out of range: 0 to 2", None),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_predicate_can_hold_and_stays_in_its_range(case: Mistake) -> None:
    """CFG-1, CFG-5, SIZE-2"""
    mistake(case)
