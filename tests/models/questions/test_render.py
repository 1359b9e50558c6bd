"""Structured text: S1-1."""

from hypothesis import given
from hypothesis import strategies as st

from models.questions.render import render
from tests.doubles.json_values import JSON


@given(JSON)
def test_every_value_renders_the_same_way_twice(value):
    """S1-1"""
    text = render(value)
    assert isinstance(text, str)
    assert render(value) == text


@given(st.text())
def test_a_state_of_one_text_is_that_text(text):
    """S1-1, SIG-2"""
    assert render(text) == render({"request": text}) == text


def test_objects_and_arrays_are_lines():
    """S1-1"""
    value = {"request": "Hi", "history": [{"role": "user", "text": "Yo"}], "n": 2, "ok": True}
    assert render(value) == (
        "request: Hi\nhistory:\n  -\n    role: user\n    text: Yo\nn: 2\nok: true"
    )


@given(st.lists(st.text(alphabet="abc", min_size=1), min_size=2))
def test_an_array_is_a_line_per_element_in_order(texts):
    """S1-1"""
    assert render(None) == ""
    assert render(texts).splitlines() == [f"- {text}" for text in texts]
