"""Routing views: VIEW-2, VIEW-3."""

import re

from hypothesis import given
from hypothesis import strategies as st

from serve_app.config.sizes import Sizes
from serve_app.scan.text import size_of
from serve_app.scan.view import head_and_tail, viewed

TEXTS = st.text(st.characters(), max_size=400) | st.text("a😀é漢\u0301", max_size=400)
MARKER = re.compile(r"\[\.\.\. (\d+) tokens omitted \.\.\.\]")


def sizes(view: int, head_share: float = 0.25) -> Sizes:
    return Sizes(view, head_share, window=1_024, overlap=64, largest=1_024, max_parallel=4,
                 reread_margin=3)  # fmt: skip


def test_a_long_request_keeps_a_quarter_of_head_and_its_tail():
    """VIEW-2: the number is the omitted bytes over four, rounded up"""
    text = "".join(f"{i:04}" for i in range(1_000))
    shown = head_and_tail(text, 1_024, 0.25)
    marker = MARKER.search(shown)
    assert marker is not None
    head, tail = shown[: marker.start()], shown[marker.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert size_of(shown) <= 1_024
    assert int(marker[1]) == -(-(4_000 - len(head) - len(tail)) // 4)
    assert abs(len(head) / (len(head) + len(tail)) - 0.25) < 0.01


@given(TEXTS, st.integers(256, 600), st.floats(0, 1))
def test_a_view_fits_and_is_cut_between_characters(text, view, share):
    """VIEW-2, VIEW-3"""
    shown = head_and_tail(text, view, share)
    assert size_of(shown) <= view
    if size_of(text) <= view:
        assert shown is text
        return
    marker = MARKER.search(shown)
    assert marker is not None
    head, tail = shown[: marker.start()], shown[marker.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    omitted = size_of(text) - size_of(head) - size_of(tail)
    assert int(marker[1]) == -(-omitted // 4)
    assert size_of(shown) >= view - 16


def test_a_state_that_fits_is_the_same_state():
    """VIEW-3: byte for byte"""
    state = {"previous_turns": [{"role": "user", "text": "é" * 100}], "request": "x" * 800}
    assert viewed(state, sizes(1_024)) is state
    assert viewed(state, sizes(1_023)) is not state


def test_the_oldest_entries_go_before_the_request_is_cut():
    """VIEW-2: the view bounds all texts of a state together"""
    turns = [{"role": "user", "text": f"{i}" * 300} for i in range(4)]
    state = {"history": turns, "tool_results": ["t" * 200], "request": "r" * 400}
    shown = viewed(state, sizes(1_000))
    assert list(shown) == ["history", "tool_results", "request"]
    assert shown["history"] == turns[3:]
    assert shown["tool_results"] == state["tool_results"]
    assert shown["request"] == state["request"]


def test_what_is_older_goes_whole_where_something_newer_is_left_out():
    """VIEW-2: no old entry stays that happens to be short"""
    state = {
        "history": [{"role": "user", "text": "short"}],
        "tool_results": ["short", "t" * 900],
        "request": "r" * 400,
    }
    shown = viewed(state, sizes(1_024))
    assert shown == {"history": [], "tool_results": [], "request": "r" * 400}


def test_a_request_that_is_longer_than_the_view_stands_alone():
    """VIEW-2"""
    state = {"previous_turns": [{"role": "user", "text": "a"}], "request": "r" * 2_000}
    shown = viewed(state, sizes(1_024))
    assert shown["previous_turns"] == []
    assert size_of(shown["request"]) <= 1_024
    assert MARKER.search(shown["request"])
