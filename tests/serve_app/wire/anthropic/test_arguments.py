"""Arguments of calls as objects and as text (API-1)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.wire.anthropic.arguments import (
    INVALID_JSON,
    ObjectScanner,
    to_arguments,
    to_input,
)
from tests.serve_app.wire.anthropic.strategies import BROKEN, OBJECTS


@given(OBJECTS)
def test_an_object_stays_what_it_is(value: dict[str, object]) -> None:
    """API-1: integers of any size"""
    assert to_input(json.dumps(value)) == value
    assert to_input(to_arguments(value)) == value


@given(st.text() | BROKEN)
def test_any_text_comes_back(text: str) -> None:
    """API-1"""
    value = to_input(text)
    if value.keys() == {INVALID_JSON}:
        assert to_arguments(value) == text
    else:
        assert value == (json.loads(text) if text.strip() else {})


@pytest.mark.parametrize(
    "text", ["NaN", '{"a": NaN}', '{"a": ' * 80 + "1" + "}" * 80, '{"a": ' + "9" * 5000 + "}"]
)
def test_what_no_provider_could_read_is_wrapped(text: str) -> None:
    """API-1, API-6"""
    assert to_input(text) == {INVALID_JSON: text}


@given(OBJECTS, st.data())
def test_an_object_is_complete_at_its_last_character(
    value: dict[str, object], data: st.DataObject
) -> None:
    """API-3"""
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(text) - 1))
    scanner = ObjectScanner()
    scanner.feed(text[:at])
    scanner.feed(text[at:-1])
    assert not scanner.complete
    scanner.feed(text[-1])
    assert scanner.complete
