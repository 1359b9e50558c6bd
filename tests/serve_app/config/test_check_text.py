"""CFG-2, CFG-10: a document from anybody is judged without what the environment holds."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.config.loading import Verdict, check_text
from serve_app.config.problem import Severity
from tests.doubles.cards import ABLE
from tests.doubles.router_yaml import ENVIRON, NAME, ROUTER, changed, errors, loaded
from tests.serve_app.config.test_mutations import DOCUMENT, PLACES, VALUES, dumped, holder

STRINGS = [where for where in PLACES if isinstance(holder(DOCUMENT, where)[where[-1]], str)]


def checked(text: str, *variables: str) -> Verdict:
    return check_text(text, NAME, cards={"embedded": ABLE}, variables=[*ENVIRON, *variables])


def replaced(*changes: tuple[tuple[str | int, ...], Any]) -> str:
    document = copy.deepcopy(DOCUMENT)
    for where, value in changes:
        try:
            holder(document, where)[where[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    return dumped(document)


def test_a_document_without_variables_is_judged_as_it_is_loaded() -> None:
    """CFG-10"""
    text, _ = changed("${OTHER:-http://127.0.0.1:9001}", "http://127.0.0.1:9001")
    verdict, known = checked(text), loaded(text)
    assert verdict == Verdict(True, known.version, known.warnings)
    text, _ = changed("priority: 500", "priorty: 500")
    assert checked(text) == Verdict(False, None, errors(text))


def test_a_default_is_read_where_its_variable_is_not_set() -> None:
    """CFG-2"""
    assert checked(ROUTER).version == loaded().version


def test_a_variable_that_is_not_set_is_an_error() -> None:
    """CFG-2: whether one is set may be told."""
    text, _ = changed("recipe: frugal", "recipe: '${GONE}'")
    (problem,) = checked(text).problems
    assert problem.severity is Severity.ERROR
    assert "does not set GONE" in problem.message


def test_the_names_of_keys_are_checked_against_what_is_set() -> None:
    """CFG-2"""
    verdict = check_text(ROUTER, NAME, cards={"embedded": ABLE}, variables=["OPS_KEY", "APP_KEY"])
    assert verdict.valid
    assert [p.message for p in verdict.problems] == [
        "the environment here does not set GENERAL_KEY",
        "the environment here does not set FAR_KEY",
    ]


@pytest.mark.parametrize("where", STRINGS, ids=str)
def test_a_value_with_a_variable_is_shown_as_written_and_is_no_mistake(
    where: tuple[str | int, ...],
) -> None:
    """CFG-2, CFG-10: nor is anything that depends on it; the version is not known then."""
    text = replaced((where, "${SET}"))
    verdict = checked(text, "SET")
    (problem,) = verdict.problems
    assert (verdict.valid, verdict.version) == (True, None)
    assert problem.value in ("${SET}", None)
    assert "is not read here" in problem.message


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(PLACES), VALUES | st.just("${SET}")), min_size=2, max_size=9)
)
def test_any_document_with_withheld_values_has_a_verdict(
    changes: list[tuple[tuple[str | int, ...], Any]],
) -> None:
    """CFG-10"""
    verdict = checked(replaced(*changes), "SET")
    failed = any(problem.severity is Severity.ERROR for problem in verdict.problems)
    assert verdict.valid is not failed
