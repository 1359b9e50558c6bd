"""A remote System One API behind its ``Send``: it answers as written, else every question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from models.questions.standard import SystemOneBody, parse_body, response
from models.questions.types import AnswerError, Question
from serve_app.asking.remote.exchange import RemoteAnswer, RemoteError
from tests.doubles.hand_clock import HandClock
from tests.doubles.scripted_ask import answer_for

Played: TypeAlias = RemoteAnswer | RemoteError
Move: TypeAlias = Played | Callable[[dict[str, Any]], Played | None]
"""What one send gets, or a function of its body; ``None`` there answers it."""


@dataclass
class ScriptedApi:
    """``moves``: what the first sends get, ``always`` every other; else questions are answered
    by ``answers`` (short forms, by id), 0.25 and its like where it has none.

    Each send takes ``takes_s`` of the clock, and raises ``DEADLINE_EXCEEDED`` where it may not
    wait that long. ``bodies``, ``waits`` and ``fresh`` hold what was sent, how long it would wait
    and whether over a connection of its own.
    """

    moves: list[Move] = field(default_factory=list)
    always: Move | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    clock: HandClock = field(default_factory=HandClock)
    takes_s: float = 0.0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    waits: list[float | None] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)

    async def __call__(
        self, body: dict[str, Any], wait_s: float | None, fresh: bool
    ) -> RemoteAnswer:
        self.fresh.append(fresh)
        self.bodies.append(body)
        self.waits.append(wait_s)
        if wait_s is not None and wait_s < self.takes_s:
            self.clock.now += wait_s
            raise RemoteError(AnswerError.DEADLINE_EXCEEDED)
        self.clock.now += self.takes_s
        move = self.moves.pop(0) if self.moves else self.always
        if callable(move):
            move = move(body)
        if isinstance(move, RemoteError):
            raise move
        return move if move is not None else RemoteAnswer(200, self.answered(body))

    def answered(self, body: dict[str, Any]) -> dict[str, Any]:
        """The response of this project's own server, seven tokens an entry."""
        parsed = parse_body(body)
        rows = [
            tuple(self._answer(parsed, id, question) for id, question in asked.items())
            for asked in (
                {i: q for i, q in r.questions.items() if isinstance(q, Question)}
                for r in parsed.requests.values()
            )
            if asked
        ]
        return response(parsed, "api-1.0", rows, [7] * len(rows))

    def _answer(self, parsed: SystemOneBody, id: str, question: Question) -> Any:
        defaults = {
            "noul": 0.25,
            "score": 0.5,
            "choice": {question.options[0].key: 0.7} if len(question.options) > 1 else {},
            "set": {},
            "span": {},
        }
        return answer_for(question, self.answers.get(id, defaults[question.type.value]))

    @property
    def asked(self) -> list[dict[str, list[str]]]:
        """Per send: entry name (``""`` of a standard request) -> question ids."""
        return [
            {name: list(part["questions"]) for name, part in body.get("states", {"": body}).items()}
            for body in self.bodies
        ]
