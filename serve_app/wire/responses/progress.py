"""How much of each item a stream has told, so that nothing is told twice or not at all (API-3).

Providers tell a text by deltas, whole where it is done, or both; they number items by place, by id,
or by one of the two alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.wire.neutral.events import (
    CallBegan,
    CallDelta,
    Event,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from serve_app.wire.responses.items import CALLS
from serve_app.wire.responses.sealing import unseal
from serve_app.wire.responses.turns import SEPARATOR

_TEXTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "output_text": ("output_text", "content_index", "text"),
    "refusal": ("refusal", "content_index", "refusal"),
    "reasoning_summary_text": ("summary", "summary_index", "text"),
    "reasoning_text": ("content", "content_index", "text"),
}
"""By what an event is of: the kind of text, which of its item's it is, and its whole when done."""

_ARGUMENTS: Final[Mapping[str, str]] = {
    "function_call_arguments": "arguments",
    "custom_tool_call_input": "input",
}

_MESSAGE_PARTS: Final[Mapping[str, str]] = {"output_text": "text", "refusal": "refusal"}


class Item:
    """One item of the output. ``told``: characters of each of its texts."""

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int], int] = {}
        self.told: dict[tuple[str, int], int] = {}
        self.part: int | None = None
        """Of reasoning, and of a call that has begun: the one part that it is."""
        self.last: tuple[str, int] | None = None
        self.hidden = False


class Progress:
    """``called``: a tool has been."""

    def __init__(self) -> None:
        self.called = False
        self._parts = 0
        self._by_id: dict[str, Item] = {}
        self._by_place: dict[int, Item] = {}
        self._latest: Item | None = None

    def read(self, stage: str, event: Mapping[str, Any]) -> list[Event]:
        """An event between the first and the last. ``stage``: its name without ``response.``"""
        of, _, what = stage.partition(".")
        if of == "output_item" and what in ("added", "done"):
            return self._item(event, what == "done")
        if what not in ("delta", "done"):
            return []
        item = self._found(event)
        if of in _ARGUMENTS:
            text = event.get("delta" if what == "delta" else _ARGUMENTS[of])
            return self._arguments(item, text, what == "done")
        if of not in _TEXTS:
            return []
        kind, index, name = _TEXTS[of]
        key = (kind, _index(event.get(index)))
        return self._text(item, key, event.get("delta" if what == "delta" else name), what)

    def rest(self, output: JsonValue) -> list[Event]:
        """A whole output, where its stream has told nothing of it."""
        if self._parts or not isinstance(output, list):
            return []
        return [event for item in output for event in self._whole(Item(), item)]

    def _item(self, event: Mapping[str, Any], done: bool) -> list[Event]:
        given = event.get("item")
        if not isinstance(given, dict):
            return []
        named = {"item_id": given.get("id"), "output_index": event.get("output_index")}
        if done:
            return self._whole(self._found(named), given)
        return self._call(self._known(Item(), named), given)

    def _found(self, event: Mapping[str, Any]) -> Item:
        """By its id, else by its place; a new one where what is named is not known."""
        id, place = _named(event)
        item = self._by_id.get(id) if id else None
        if item is None and place is not None:
            item = self._by_place.get(place)
        if item is None and not id and place is None:
            item = self._latest
        return self._known(Item(), event) if item is None else item

    def _known(self, item: Item, event: Mapping[str, Any]) -> Item:
        id, place = _named(event)
        if id:
            self._by_id[id] = item
        if place is not None:
            self._by_place[place] = item
        self._latest = item
        return item

    def _whole(self, item: Item, given: JsonValue) -> list[Event]:
        """What of a whole item has not been told."""
        kind = given.get("type") if isinstance(given, dict) else None
        if kind == "message":
            return self._message(item, given)
        if kind == "reasoning":
            return self._reasoning(item, given)
        return self._call(item, given) if isinstance(given, dict) else []

    def _message(self, item: Item, given: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        for index, content in enumerate(_list(given.get("content"))):
            kind = content.get("type") if isinstance(content, dict) else None
            if isinstance(kind, str) and kind in _MESSAGE_PARTS:
                text = content.get(_MESSAGE_PARTS[kind])
                events += self._text(item, (kind, index), text, "done")
        return events

    def _reasoning(self, item: Item, given: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        for kind in ("summary", "content"):
            for index, part in enumerate(_list(given.get(kind))):
                text = part.get("text") if isinstance(part, dict) else None
                events += self._text(item, (kind, index), text, "done")
        encrypted, id = given.get("encrypted_content"), given.get("id")
        if isinstance(encrypted, str) and encrypted and not item.hidden:
            item.hidden = True
            state = unseal(encrypted, id if isinstance(id, str) else "")
            part = self._reasoning_part(item)
            events.append(ReasoningDelta(part, "", state.signature, state.hidden, state.origin))
        return events

    def _call(self, item: Item, given: Mapping[str, Any]) -> list[Event]:
        """A call begins when its name is known, and goes on with what it already says."""
        kind, name = given.get("type"), given.get("name")
        if not isinstance(kind, str) or kind not in CALLS or not isinstance(name, str) or not name:
            return []
        events: list[Event] = []
        if item.part is None:
            item.part = self._next()
            self.called = True
            ids = (given.get("call_id"), given.get("id"))
            id = next((id for id in ids if isinstance(id, str) and id), f"call_{item.part}")
            events.append(CallBegan(item.part, id, name))
        return [*events, *self._arguments(item, given.get(CALLS[kind]), True)]

    def _arguments(self, item: Item, text: JsonValue, whole: bool) -> list[Event]:
        """Of a call that has not begun it is told when it is done."""
        if item.part is None:
            return []
        new = _remainder(item, ("arguments", 0), text, whole)
        return [CallDelta(item.part, new)] if new else []

    def _text(self, item: Item, key: tuple[str, int], text: JsonValue, what: str) -> list[Event]:
        new = _remainder(item, key, text, what == "done")
        if not new:
            return []
        if key[0] in ("summary", "content"):
            between = SEPARATOR if item.last is not None and item.last != key else ""
            item.last = key
            return [ReasoningDelta(self._reasoning_part(item), between + new)]
        if key not in item.parts:
            item.parts[key] = self._next()
        part = item.parts[key]
        return [TextDelta(part, new) if key[0] == "output_text" else RefusalDelta(part, new)]

    def _reasoning_part(self, item: Item) -> int:
        if item.part is None:
            item.part = self._next()
        return item.part

    def _next(self) -> int:
        self._parts += 1
        return self._parts - 1


def _named(event: Mapping[str, Any]) -> tuple[str, int | None]:
    id, place = event.get("item_id"), event.get("output_index")
    return id if isinstance(id, str) else "", place if isinstance(place, int) else None


def _remainder(item: Item, key: tuple[str, int], text: JsonValue, whole: bool) -> str:
    """What is new of a text; ``whole``: it is all there is, with what has been told before."""
    if not isinstance(text, str):
        return ""
    told = item.told.get(key, 0)
    new = text[told:] if whole else text
    item.told[key] = told + len(new)
    return new


def _index(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0


def _list(value: JsonValue) -> list[Any]:
    return value if isinstance(value, list) else []
