"""The bounded view that routing questions have of a long message (VIEW-1 to VIEW-3)."""

from __future__ import annotations

from typing import Final

from models.questions.types import JsonValue
from serve_app.config.sizes import BYTES_A_TOKEN, Sizes
from serve_app.scan.text import Text, size_of

_MARKER: Final = "[... {} tokens omitted ...]"

ENTRY: Final = 24
"""Bytes that an entry of a list takes beside its text, with its role, as a model reads it."""

_LISTS: Final = ("history", "previous_turns", "tool_results")
"""A state's lists of texts, oldest entries first."""


def viewed(state: dict[str, JsonValue], sizes: Sizes) -> dict[str, JsonValue]:
    """``state`` with at most ``sizes.view`` bytes of text: oldest entries go first, then the
    request loses its middle. A state that fits is returned as it is (VIEW-3)."""
    request = str(state["request"])
    left = sizes.view - size_of(request)
    kept: dict[str, list[JsonValue]] = {}
    for key in reversed(_LISTS):  # what is nearest to the request is the newest
        if key in state:
            kept[key] = _newest(state[key], left)
            left -= sum(map(_size, kept[key]))
            if len(kept[key]) < len(state[key]):
                left = 0
    if left >= 0 and all(len(kept[key]) == len(state[key]) for key in kept):
        return state
    shown = {key: kept.get(key, value) for key, value in state.items()}
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


def _newest(entries: list[JsonValue], room: int) -> list[JsonValue]:
    """The last of ``entries`` that fit together into ``room`` bytes."""
    kept: list[JsonValue] = []
    for entry in reversed(entries):
        room -= _size(entry)
        if room < 0:
            break
        kept.append(entry)
    return kept[::-1]


def _size(entry: JsonValue) -> int:
    return ENTRY + size_of(str(entry["text"]) if isinstance(entry, dict) else str(entry))
