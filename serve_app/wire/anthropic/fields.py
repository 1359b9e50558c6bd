"""The members of an object of a request, each taken with its type; the rest is lost (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.errors import RouterError
from serve_app.wire.fields import TypedFields
from serve_app.wire.places import Loc, invalid, path

_DEFAULTS: Final[Mapping[str, JsonValue]] = {
    "allowed_callers": ["direct"],
    "caller": {"type": "direct"},
    "citations": {"enabled": False},
    "service_tier": "auto",
    "speed": "standard",
    "transformations": {"oversized_image": "downsize"},
}
"""Values that say no more than no value."""


class Losses:
    """The paths of what has no place in a conversation, in the order in which they were read."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def add(self, loc: Loc) -> None:
        # A hint to save money, set on many blocks at once: one name says it all.
        self._paths["cache_control" if loc[-1] == "cache_control" else path(loc)] = None

    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)


class Fields(TypedFields):
    """``RouterError`` with the place of whatever is of the wrong type.

    ``close`` names what nothing took; ``lose`` gives up the whole object.
    """

    def __init__(self, value: JsonValue, loc: Loc, lost: Losses) -> None:
        if not isinstance(value, dict):
            raise invalid("must be an object", loc)
        self._left: dict[str, JsonValue] = dict(value)
        self.loc = loc
        self.lost = lost

    def take(self, name: str) -> JsonValue:
        return self._left.pop(name, None)

    def take_texts(self) -> dict[str, str]:
        """Every member that is a string."""
        names = [name for name, value in self._left.items() if isinstance(value, str)]
        return {name: self._left.pop(name) for name in names}

    def text(self, name: str) -> str:
        value = self.string(name)
        if value is None:
            raise self.wrong(name, "must be a string")
        return value

    def object(self, name: str) -> dict[str, Any]:
        value = self.take(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "must be an object")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        items = self.items(name)
        for index, item in enumerate(items):
            if not isinstance(item, str):
                raise invalid("must be a string", (*self.loc, name, index))
        return tuple(items)

    def child(self, name: str) -> Fields:
        return Fields(self.take(name), (*self.loc, name), self.lost)

    def optional_child(self, name: str) -> Fields | None:
        return None if self._left.get(name) is None else self.child(name)

    def wrong(self, name: str, why: str) -> RouterError:
        return invalid(why, (*self.loc, name))

    def lose(self) -> None:
        self._left.clear()
        self.lost.add(self.loc)

    def close(self) -> None:
        for name, value in self._left.items():
            if not _says_nothing(name, value):
                self.lost.add((*self.loc, name))


def _says_nothing(name: str, value: JsonValue) -> bool:
    if value is None or value is False or value in ("", [], {}):
        return True
    return name in _DEFAULTS and bool(value == _DEFAULTS[name])
