"""CFG-1: any change of a configuration is read or refused at a place, and never ignored."""

from __future__ import annotations

import copy
import io
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from serve_app.config.problem import Problem
from tests.doubles.router_yaml import ROUTER, errors

DOCUMENT: Any = YAML(typ="safe", pure=True).load(ROUTER)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.floats(),
    st.text(max_size=80),
    st.sampled_from(["${GONE}", "${X:-y}", "v1", "auto", "a b", "x" * 300]),
    st.just([]),
    st.just({}),
    st.lists(st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=8), st.integers(), max_size=2),
)

Where = tuple[str | int, ...]


def places(value: Any, here: Where = ()) -> list[Where]:
    """Every place below the root."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    found = []
    for key, member in items:
        found += [(*here, key), *places(member, (*here, key))]
    return found


PLACES = places(DOCUMENT)
MEMBERS = [where for where in PLACES if isinstance(where[-1], str)]


def holder(document: Any, where: Where) -> Any:
    for part in where[:-1]:
        document = document[part]
    return document


def dumped(document: Any) -> str:
    stream = io.StringIO()
    YAML(typ="safe", pure=True).dump(document, stream)
    return stream.getvalue()


def found_in(document: Any) -> tuple[Problem, ...]:
    """The errors, each with its line, in order; none if the document loads."""
    problems = errors(dumped(document))
    lines = [problem.line for problem in problems]
    assert lines == sorted(lines)
    assert all(lines)
    for problem in problems:
        assert len(str(problem).encode().splitlines()) == 1
    return problems


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(PLACES))
def test_any_part_may_be_missing(where: Where) -> None:
    """CFG-1"""
    document = copy.deepcopy(DOCUMENT)
    del holder(document, where)[where[-1]]
    found_in(document)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_any_value_may_stand_anywhere(where: Where, value: Any) -> None:
    """CFG-1"""
    document = copy.deepcopy(DOCUMENT)
    holder(document, where)[where[-1]] = value
    found_in(document)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=2, max_size=8))
def test_many_mistakes_may_meet(changes: list[tuple[Where, Any]]) -> None:
    """CFG-1"""
    document = copy.deepcopy(DOCUMENT)
    for where, value in changes:
        try:
            holder(document, where)[where[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    found_in(document)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([where for where in PLACES if isinstance(where[-1], int)]))
def test_any_element_may_stand_twice(where: Where) -> None:
    """CFG-1"""
    document = copy.deepcopy(DOCUMENT)
    elements = holder(document, where)
    elements.append(copy.deepcopy(elements[where[-1]]))
    found_in(document)


def free_keys(where: Where) -> bool:
    """Whether the place's key is the user's to choose: an option, a deployment's name."""
    return "criteria" in where[:-1] or where[-2:-1] == ("deployments",)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([where for where in MEMBERS if not free_keys(where)]),
    st.text("abcdefgh_", min_size=1, max_size=8),
)
def test_an_unknown_key_is_never_ignored(where: Where, suffix: str) -> None:
    """CFG-1: a part that is not built is an unknown key, never a silent no-op."""
    document = copy.deepcopy(DOCUMENT)
    members = holder(document, where)
    key = f"{where[-1]}_{suffix}"
    members[key] = members[where[-1]]
    (problem,) = found_in(document)
    assert problem.path.rpartition(".")[2] == key
    assert problem.message.startswith("unknown key")
