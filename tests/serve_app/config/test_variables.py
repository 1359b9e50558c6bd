"""CFG-2: variables in values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.config.variables import VariableError, expand


@given(st.text().filter(lambda text: "${" not in text))
def test_text_without_references_is_itself(text: str) -> None:
    """CFG-2"""
    assert expand(text, {"A": "1"}) == text


@given(st.text())
def test_what_a_variable_holds_is_not_read_again(value: str) -> None:
    """CFG-2"""
    assert expand("<${A}>", {"A": value}) == f"<{value}>"


def test_a_default_stands_in_for_unset_and_empty() -> None:
    """CFG-2"""
    assert expand("${A:-x}", {}) == "x"
    assert expand("${A:-x}", {"A": ""}) == "x"
    assert expand("${A:-x}", {"A": "1"}) == "1"
    assert expand("${A:-http://h:1/p}", {}) == "http://h:1/p"
    assert expand("${A}", {"A": ""}) == ""


@pytest.mark.parametrize("text", ["${", "${}", "${1A}", "${A-x}", "${A", "a ${A B}"])
def test_what_begins_like_a_reference_must_be_one(text: str) -> None:
    """CFG-1: never a silent no-op."""
    with pytest.raises(VariableError, match=r"\$\{NAME\} or \$\{NAME:-default\}"):
        expand(text, {"A": "1"})


def test_an_unset_variable_is_named_without_the_value_of_another() -> None:
    """CFG-2"""
    with pytest.raises(VariableError, match="does not set B;") as raised:
        expand("${A}${B}", {"A": "sesame"})
    assert "sesame" not in str(raised.value)
