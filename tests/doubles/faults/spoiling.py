"""Responses of the right form with one answer that is wrong, in the first entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.doubles.faults.exchange import Exchange, Table
from tests.doubles.faults.right_answers import Json

Spoil = Callable[[Json, str], None]
"""Changes an entry's members at the question of this id."""


@dataclass
class SpoiltAnswers(Table):
    """Faults at the first question of a type."""

    def spoils(self, name: str, does: str, type: str) -> Callable[[Spoil], Spoil]:
        def add(spoil: Spoil) -> Spoil:
            @self(name, does)
            async def act(call: Exchange) -> None:
                response = call.right()
                members = next(iter(response["states"].values())) if call.batch else response
                asked = next(iter(call.entries.values()))["questions"]
                for id in [id for id, q in asked.items() if q.get("type") == type][:1]:
                    spoil(members, id)
                await call.answer(response)

            return spoil

        return add

    def sets(self, name: str, does: str, type: str, member: str, value: Any) -> None:
        """Writes ``value`` into an answer."""

        @self.spoils(name, does, type)
        def spoil(members: Json, id: str) -> None:
            members["answers"][id][member] = value

    def lacks(self, name: str, does: str, type: str, member: str) -> None:
        """Leaves a member of an answer out."""

        @self.spoils(name, does, type)
        def spoil(members: Json, id: str) -> None:
            del members["answers"][id][member]

    def becomes(self, name: str, does: str, type: str, answer: Any) -> None:
        """Writes something else in an answer's place."""

        @self.spoils(name, does, type)
        def spoil(members: Json, id: str) -> None:
            members["answers"][id] = answer
