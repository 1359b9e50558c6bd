"""Fronts that answer differently are told apart."""

from math import inf
from typing import Any

import pytest

from benchmarks.harness.agreement import greatest_difference, greatest_gap

NOUL = {"type": "noul", "noul": 0.25}
CHOICE = {"type": "choice", "choice": "a", "probabilities": {"a": 0.5, "b": 0.5}}


def test_equal_answers_differ_by_nothing() -> None:
    assert greatest_difference([{"q": NOUL, "r": CHOICE}], [{"r": CHOICE, "q": NOUL}]) == 0


def test_the_greatest_difference_of_all_prompts_counts() -> None:
    other = {**NOUL, "noul": 0.26}
    far = {**CHOICE, "probabilities": {"a": 0.4, "b": 0.6}, "choice": "b"}
    assert greatest_difference(
        [{"q": NOUL}, {"q": CHOICE}], [{"q": other}, {"q": far}]
    ) == pytest.approx(0.1)


def test_a_missing_or_different_kind_of_answer_is_no_small_difference() -> None:
    assert greatest_difference([{"q": NOUL}], [{"q": CHOICE}]) == inf
    assert greatest_difference([{"q": NOUL}], [{}]) == inf


def preview(jailbreak: float, tools: float, *asked: str) -> dict[str, Any]:
    return {
        "calls": [{"questions": {"1": list(asked)}}],
        "rules": [
            {"type": "jailbreak", "name": "attack", "value": jailbreak},
            {"type": "systemone", "name": "needs_tools", "value": tools},
            {"type": "domain", "name": "math", "value": 0.99},
            {"type": "keyword", "name": "urgent", "value": None},
        ],
    }


ANSWERS = {
    "jailbreak": NOUL,
    "needs_tools": {"type": "noul", "noul": 0.5},
    "domain": CHOICE,
}


def test_a_preview_is_compared_by_its_rules_nouls() -> None:
    same = preview(0.25, 0.5, "a", "b", "c")
    other = preview(0.25, 0.52, "a", "b", "c")
    assert greatest_gap([same], [ANSWERS]) == 0
    assert greatest_gap([same, other], [ANSWERS, ANSWERS]) == pytest.approx(0.02)


def test_a_preview_that_asked_something_else_is_no_small_difference() -> None:
    assert greatest_gap([preview(0.25, 0.5, "a", "b")], [ANSWERS]) == inf
    twice = preview(0.25, 0.5, "a", "b", "c")
    assert greatest_gap([{**twice, "calls": [*twice["calls"], *twice["calls"]]}], [ANSWERS]) == inf
