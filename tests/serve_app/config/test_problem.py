"""CFG-1: how a problem reads."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.config.problem import ConfigErrors, Problem, Severity, nearest, shorten

FULL = Problem(Severity.ERROR, "r.yaml", 7, "a[0].b", "is wrong", "x", ("one", "two"), "one")


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (FULL, "r.yaml:7 a[0].b: is wrong (value x; allowed one, two; did you mean one)"),
        (Problem(Severity.ERROR, "r.yaml", 7, "a", "is wrong"), "r.yaml:7 a: is wrong"),
        (Problem(Severity.ERROR, "r.yaml", 3, "", "is wrong"), "r.yaml:3: is wrong"),
        (Problem(Severity.ERROR, "r.yaml", 0, "", "is empty"), "r.yaml: is empty"),
    ],
)
def test_a_problem_is_a_line_with_file_place_and_advice(problem: Problem, line: str) -> None:
    """CFG-1"""
    assert str(problem) == line


def test_long_lists_of_what_is_allowed_are_cut() -> None:
    """CFG-1"""
    many = Problem(Severity.ERROR, "f", 1, "p", "m", allowed=tuple(f"n{i}" for i in range(30)))
    assert str(many).endswith("n22, n23, … 6 more)")


def test_the_error_prints_as_all_problems_and_survives_pickling() -> None:
    """CFG-1"""
    errors = ConfigErrors([FULL, FULL])
    assert str(errors) == f"{FULL}\n{FULL}"
    assert pickle.loads(pickle.dumps(errors)).problems == (FULL, FULL)


@given(st.text())
def test_a_shown_value_is_one_short_line_that_prints(text: str) -> None:
    """CFG-1"""
    shown = shorten(text)
    assert len(shown) <= 64
    assert len(shown.splitlines()) <= 1
    shown.encode()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("atack", "attack"),
        ("ATTACK", "attack"),
        ("dificulty", "difficulty"),
        ("weather", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_one_that_looks_alike(name: str, found: str | None) -> None:
    """CFG-1"""
    assert nearest(name, ["attack", "difficulty"]) == found
