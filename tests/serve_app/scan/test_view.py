"""Routing views: VIEW-2, VIEW-3."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.questions.render import render
from serve_app.config.sizes import Sizes
from serve_app.scan.text import size_of
from serve_app.scan.view import MOST_BESIDE, head_and_tail, state_size, viewed

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


@settings(max_examples=1_000)
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


def read(state):
    """What a model reads of a state."""
    return render({key: value for key, value in state.items() if key != "images"})


def test_a_state_that_fits_is_the_same_state():
    """VIEW-3: byte for byte, as long as it is where a model reads it"""
    state = {"previous_turns": [{"role": "user", "text": "é" * 100}], "request": "x" * 700}
    size = size_of(read(state))
    assert viewed(state, sizes(size)) is state
    assert viewed(state, sizes(size - 1)) == {"request": "x" * 700}


@pytest.mark.parametrize(
    ("state", "view"),
    [
        ({"tool_results": ["t" * 60] * 100, "request": "r" * 1_024}, 8_192),
        ({"history": [{"role": "assistant", "text": "a" * 100}] * 55, "request": "r"}, 8_192),
        ({"images": ["data:" + "i" * 9_000], "request": "r" * 8_192}, 8_192),
    ],
)
def test_a_state_is_as_long_as_its_texts_are_for_a_model(state, view):
    """VIEW-3: not by a guess of what entries add; images are no text"""
    assert size_of(read(state)) <= view
    assert viewed(state, sizes(view)) is state


def test_a_request_no_longer_than_the_view_is_whole_whatever_stands_beside_it():
    """VIEW-3, SIZE-1: a key without an entry gives way"""
    for beside in ([], [{"role": "user", "text": "a"}]):
        state = {"previous_turns": beside, "request": "r" * 1_024}
        assert viewed(state, sizes(1_024)) == {"request": "r" * 1_024}


ENTRIES = st.lists(st.text("aé漢\n", max_size=60), max_size=12)
ROLES = "system", "user", "assistant", "tool"


@st.composite
def states(draw):
    state = {}
    for key in ("history", "previous_turns"):
        if draw(st.booleans()):
            roles = st.sampled_from(ROLES)
            state[key] = [{"role": draw(roles), "text": text} for text in draw(ENTRIES)]
    if draw(st.booleans()):
        state["tool_results"] = draw(ENTRIES)
    if draw(st.booleans()):
        state["images"] = ["data:" + "i" * 500]
    return {**state, "request": draw(TEXTS)}


@settings(max_examples=1_000)
@given(states(), st.integers(256, 1_500))
def test_a_view_of_a_state_fits_and_keeps_as_many_of_the_newest_entries_as_it_can(state, view):
    """SIZE-1, VIEW-2, VIEW-3: in bytes, as a model reads it"""
    shown = viewed(state, sizes(view))
    assert size_of(read(shown)) <= view
    if size_of(read(state)) <= view:
        assert shown is state
        return
    lists = [key for key in ("history", "previous_turns", "tool_results") if key in state]
    kept = [(key, entry) for key in lists for entry in shown.get(key, [])]
    all_of_them = [(key, entry) for key in lists for entry in state[key]]
    assert kept == all_of_them[len(all_of_them) - len(kept) :]
    assert shown.get("images") == state.get("images")
    if size_of(state["request"]) <= view:
        assert shown["request"] == state["request"]
    if len(kept) < len(all_of_them):
        key, entry = all_of_them[len(all_of_them) - len(kept) - 1]
        more = {k: shown.get(k, []) for k in lists if shown.get(k) or k == key}
        more[key] = [entry, *more[key]]
        assert size_of(read({**more, "request": state["request"]})) > view


@settings(max_examples=1_000)
@given(states())
def test_what_keys_and_entries_add_is_bounded(state):
    """SIZE-1: so that a short message is known to be short without being read"""
    texts = [t["text"] for k in ("history", "previous_turns") for t in state.get(k, ())]
    texts += [*state.get("tool_results", ()), state["request"]]
    assert state_size(state) == size_of(read(state))
    assert state_size(state) <= sum(map(size_of, texts)) + MOST_BESIDE * len(texts)


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
    assert shown == {"request": "r" * 400}


def test_a_request_that_is_longer_than_the_view_stands_alone():
    """VIEW-2"""
    state = {"previous_turns": [{"role": "user", "text": "a"}], "request": "r" * 2_000}
    shown = viewed(state, sizes(1_024))
    assert list(shown) == ["request"]
    assert size_of(shown["request"]) <= 1_024
    assert MARKER.search(shown["request"])
