"""A body's objects, member by member, so that what nobody took is known to be lost (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from models.questions.types import JsonValue
from serve_app.errors import RouterError
from serve_app.wire.fields import TypedFields
from serve_app.wire.places import Loc, invalid, path

_NO_DEFAULTS: Final[Mapping[str, JsonValue]] = MappingProxyType({})


class Members(TypedFields):
    """Members of one object, each taken once. A member of the wrong type is ``RouterError``."""

    def __init__(self, given: JsonValue, loc: Loc, lost: list[str]) -> None:
        if not isinstance(given, dict):
            raise invalid(f"{path(loc) or 'the body'} must be an object", loc)
        self.loc = loc
        self.lost = lost
        self._left = dict(given)

    def take(self, name: str) -> JsonValue:
        return self._left.pop(name, None)

    def name(self, name: str) -> str:
        """A string that has to be there."""
        value = self.take(name)
        if not isinstance(value, str) or not value:
            raise self.wrong(name, "must be a string that is not empty")
        return value

    def mapping(self, name: str) -> dict[str, JsonValue] | None:
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(name, "must be an object")
        return value

    def members(self, name: str) -> Members | None:
        value = self.mapping(name)
        return None if value is None else Members(value, (*self.loc, name), self.lost)

    def lose(self, *names: str) -> None:
        """The member is named as lost, whether it is taken already or not."""
        for name in names:
            self._left.pop(name, None)
            self.lost.append(path((*self.loc, name)))

    def close(self, defaults: Mapping[str, JsonValue] = _NO_DEFAULTS) -> None:
        """What nobody took is lost, unless it says nothing: it is empty, or the format's own
        default in ``defaults``."""
        for name, value in self._left.items():
            if not says_nothing(value) and not _is_default(name, value, defaults):
                self.lost.append(path((*self.loc, name)))

    def wrong(self, name: str, why: str) -> RouterError:
        loc = (*self.loc, name)
        return invalid(f"{path(loc)} {why}", loc)


def says_nothing(value: JsonValue) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def _is_default(name: str, value: JsonValue, defaults: Mapping[str, JsonValue]) -> bool:
    # 0 is no default where false is one: Python calls them equal.
    return name in defaults and (type(value), value) == (type(defaults[name]), defaults[name])
