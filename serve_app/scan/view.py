"""The bounded view that routing questions have of a long message (VIEW-1 to VIEW-3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final

from models.questions.render import render
from models.questions.types import JsonValue
from serve_app.config.sizes import BYTES_A_TOKEN, Sizes
from serve_app.scan.text import Text, size_of

_MARKER: Final = "[... {} tokens omitted ...]"

_LISTS: Final = ("history", "previous_turns", "tool_results")
"""A state's lists of texts, oldest entries first."""

MOST_BESIDE: Final = 64
"""Bytes that a state as a model reads it has beside its texts, for each of them, at most."""


def state_size(state: Mapping[str, JsonValue]) -> int:
    """Bytes of a state's texts as a model reads them, with what its keys and entries add.

    Images are no text, however long their URLs are.
    """
    return size_of(render({key: value for key, value in state.items() if key != "images"}))


def viewed(state: dict[str, JsonValue], sizes: Sizes) -> dict[str, JsonValue]:
    """``state`` with at most ``sizes.view`` bytes as a model reads it: oldest entries go first,
    with their key when none is left, then the request loses its middle. A state that fits is
    returned as it is (VIEW-3)."""
    if state_size(state) <= sizes.view:
        return state
    request = str(state["request"])
    kept = _newest(state, sizes.view - size_of(f"request: {request}"))
    shown = {key: kept.get(key, value) for key, value in state.items()}
    shown = {key: value for key, value in shown.items() if key in kept or key not in _LISTS}
    return {**shown, "request": head_and_tail(request, sizes.view, sizes.head_share)}


def head_and_tail(text: str, view: int, head_share: float) -> str:
    """``text`` within ``view`` bytes: its head, how much was left out, and its tail (VIEW-2)."""
    if size_of(text) <= view:
        return text
    cut = Text(text)
    # The number in the marker has as many digits as the whole text's, or fewer.
    room = max(0, view - len(_MARKER.format(-(-cut.size // BYTES_A_TOKEN))))
    head = cut.down(int(room * head_share))
    tail = cut.up(cut.size - (room - head))
    omitted = -(-(tail - head) // BYTES_A_TOKEN)
    return cut.between(0, head) + _MARKER.format(omitted) + cut.between(tail, cut.size)


def _newest(state: Mapping[str, JsonValue], room: int) -> dict[str, list[JsonValue]]:
    """By list, the last entries that fit together into ``room`` bytes; what is older than one that
    does not fit is left out whole."""
    kept: dict[str, deque[JsonValue]] = {}
    for key, entry in _from_the_newest(state):
        room -= _line(entry) + (0 if key in kept else len(f"{key}:\n"))
        if room < 0:
            break
        kept.setdefault(key, deque()).appendleft(entry)
    return {key: list(entries) for key, entries in kept.items()}


def _from_the_newest(state: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for key in reversed(_LISTS):  # what is nearest to the request is the newest
        for entry in reversed(state.get(key, ())):
            yield key, entry


def _line(entry: JsonValue) -> int:
    """Bytes that an entry adds to its list."""
    return size_of(render({"": [entry]})) - len(":")
