"""The typed members of an object that a client sent."""

from __future__ import annotations

from abc import ABC, abstractmethod

from models.questions.types import JsonValue
from serve_app.errors import RouterError


class TypedFields(ABC):
    """Members taken by name, ``None`` where they are null or absent; one of another type is
    ``wrong``. What becomes of members that nobody takes is each format's own."""

    @abstractmethod
    def take(self, name: str) -> JsonValue:
        """The member, whatever its type; from then on it counts as read."""

    @abstractmethod
    def wrong(self, name: str, why: str) -> RouterError:
        """The refusal that leads to the member."""

    def string(self, name: str) -> str | None:
        value = self.take(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(name, "must be a string")
        return value

    def flag(self, name: str) -> bool | None:
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "must be true or false")
        return value

    def integer(self, name: str) -> int | None:
        value = self.take(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.wrong(name, "must be a whole number")
        return value

    def number(self, name: str) -> float | None:
        value = self.take(name)
        if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
            raise self.wrong(name, "must be a number")
        return value

    def items(self, name: str) -> list[JsonValue]:
        """``[]`` where there is none."""
        value = self.take(name)
        if value is not None and not isinstance(value, list):
            raise self.wrong(name, "must be a list")
        return value or []
