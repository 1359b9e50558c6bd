"""The objects of a Responses body, taken apart with every type checked (API-11)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, TypeAlias

from models.questions.types import JsonValue
from serve_app.errors import RouterError
from serve_app.wire.fields import TypedFields
from serve_app.wire.places import Loc, invalid, path

Defaults: TypeAlias = Mapping[str, Collection[JsonValue]]
"""By member: the values that say no more than its absence."""

_EMPTY: Final[tuple[JsonValue, ...]] = (None, "", [], {})


class Fields(TypedFields):
    """One object. Members are taken by name, ``None`` where they are null or absent; one of
    another type is a ``RouterError`` that leads to it. ``rest`` names what nobody took.
    """

    def __init__(self, given: JsonValue, loc: Loc) -> None:
        if not isinstance(given, dict):
            raise invalid("must be an object", loc)
        self.loc = loc
        self.given = given
        self._taken: set[str] = set()

    def take(self, name: str) -> JsonValue:
        self._taken.add(name)
        return self.given.get(name)

    def required(self, name: str) -> str:
        value = self.string(name)
        if value is None:
            raise self.wrong(name, "is missing")
        return value

    def has(self, name: str) -> bool:
        """Whether a member says something; it is not taken."""
        return self.given.get(name) not in _EMPTY

    def object(self, name: str) -> Fields | None:
        value = self.take(name)
        return None if value is None else Fields(value, (*self.loc, name))

    def members(self, name: str) -> Iterator[tuple[JsonValue, Loc]]:
        """The members of a list, each with its place."""
        for index, item in enumerate(self.items(name)):
            yield item, (*self.loc, name, index)

    def objects(self, name: str) -> Iterator[Fields]:
        for item, loc in self.members(name):
            yield Fields(item, loc)

    def wrong(self, name: str, why: str) -> RouterError:
        return invalid(f"{name} {why}", (*self.loc, name))

    def place(self, name: str) -> str:
        """The client's own path to a member, or to this object under the name of its kind."""
        return path((*self.loc, name))

    def rest(self, defaults: Defaults | None = None) -> list[str]:
        """The places of the members that nobody took and that say something."""
        usual = defaults or {}
        return [
            self.place(name)
            for name, value in self.given.items()
            if name not in self._taken and value not in _EMPTY and value not in usual.get(name, ())
        ]
