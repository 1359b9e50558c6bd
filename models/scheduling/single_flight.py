"""Which of a call's questions must be computed, and where the others come from (SRV-10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from models.engine import Row
from models.questions.types import Question
from models.scheduling.cost import TextCost
from models.scheduling.keys import ContentKeys
from models.scheduling.messages import ModelCall
from models.scheduling.result_cache import ResultCache
from models.scheduling.work import Flight, Item, Ticket

QUESTION_CHARACTERS: Final = 16_384
"""Of new question texts that one forward reads beside a state, unless it is one question."""

ALL_CHARACTERS: Final = 131_072
"""Of all question texts, known ones too: an engine's memory is bounded, and where it has dropped
what it knew of them a forward reads no more than these."""


class Flights:
    """The questions being computed, by key. ``plan`` changes nothing, ``join`` does."""

    def __init__(self, keys: ContentKeys, cache: ResultCache, text_cost: TextCost) -> None:
        self._keys = keys
        self._cache = cache
        self._text_cost = text_cost
        self._open: dict[bytes, Flight] = {}

    def plan(self, call: ModelCall, now: float) -> tuple[Ticket, list[Seat]]:
        """A ticket with its cached answers filled in, and the seats it needs for the others.

        Rows with questions that nobody computes are in ``ticket.unread``, each with those
        questions alone, and in parts where the texts of those are long.
        """
        ticket = Ticket(call, now)
        seats: list[Seat] = []
        opened: dict[bytes, Flight] = {}
        for r, row in enumerate(call.rows):
            state = self._keys.state(row.state)
            missing: list[tuple[int, bytes]] = []
            for q, question in enumerate(row.questions):
                key = state + self._keys.question(question)
                cached = self._cache.get(key, question)
                if cached is not None:
                    ticket.fill(r, q, cached.answer, cached.tokens)
                    continue
                flight = self._open.get(key) or opened.get(key)
                if flight is not None:
                    seats.append((flight, r, q))
                else:
                    missing.append((q, key))
            if missing:
                self._open_items(ticket, row, r, missing, opened, seats)
        return ticket, seats

    def _open_items(
        self,
        ticket: Ticket,
        row: Row,
        r: int,
        missing: list[tuple[int, bytes]],
        opened: dict[bytes, Flight],
        seats: list[Seat],
    ) -> None:
        distinct: dict[bytes, Question] = {}
        for q, key in missing:
            distinct.setdefault(key, row.questions[q])
        for part, new in self._parts(distinct):
            whole = len(part) == len(row.questions)
            asked = row if whole else Row(row.state, tuple(part.values()))
            characters = len(row.state) + new
            item = Item(ticket, asked, characters, self._text_cost.guess(characters))
            item.flights = [Flight(key, item) for key in part]
            for flight in item.flights:
                opened[flight.key] = flight
            ticket.unread.append(item)
        seats += [(opened[key], r, q) for q, key in missing]

    def _parts(
        self, questions: Mapping[bytes, Question]
    ) -> Iterator[tuple[dict[bytes, Question], int]]:
        """The questions in order, cut so that no forward holds the model for long, and each
        part's characters that are to be read first (SRV-6)."""
        part: dict[bytes, Question] = {}
        characters = everything = 0
        for key, question in questions.items():
            new = self._text_cost.unread_characters(question)
            everything += question.characters
            if part and (characters + new > QUESTION_CHARACTERS or everything > ALL_CHARACTERS):
                yield part, characters
                part, characters, everything = {}, 0, question.characters
            part[key] = question
            characters += new
        yield part, characters

    def join(self, ticket: Ticket, seats: list[Seat]) -> None:
        """Takes the seats of an admitted ticket."""
        for item in ticket.unread:
            for flight in item.flights:
                self._open[flight.key] = flight
        for flight, r, q in seats:
            flight.waiters.append((ticket, r, q))
            flight.item.waiters += 1
            ticket.flights.append(flight)

    def leave(self, ticket: Ticket) -> list[Item]:
        """Gives the ticket's seats back; returns the items that nobody waits for any more."""
        left = []
        for flight in ticket.flights:
            before = len(flight.waiters)
            flight.waiters = [w for w in flight.waiters if w[0] is not ticket]
            flight.item.waiters -= before - len(flight.waiters)
            if before > len(flight.waiters) and not flight.item.waiters:
                left.append(flight.item)
        ticket.flights.clear()
        return left

    def close(self, item: Item) -> None:
        """The item is computed, or will not be."""
        for flight in item.flights:
            del self._open[flight.key]


Seat = tuple[Flight, int, int]
"""A flight, and the row and question of a ticket that waits for it."""
