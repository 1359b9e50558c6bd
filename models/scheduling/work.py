"""The things a scheduler moves: a caller's ticket, a question in flight, a row to compute."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from models.engine import PreparedRow, Row
from models.questions.types import Answer
from models.scheduling.messages import ModelCall, ModelReply


class Phase(Enum):
    """``UNREAD`` waits for its tokens, ``WAITING`` for a forward; ``GONE`` is computed or was
    left by everyone."""

    UNREAD = auto()
    WAITING = auto()
    RUNNING = auto()
    GONE = auto()


class Item:
    """A row as it is computed: one state and those of its questions nobody computes yet.

    ``characters``: of the texts to be read for it. ``cost``: padded tokens, a guess until
    ``prepared`` is there. ``waiters``: how many places of tickets wait for its questions; an item
    without any leaves before it costs a forward.
    """

    __slots__ = (
        "characters",
        "cost",
        "flights",
        "opener",
        "phase",
        "prepared",
        "row",
        "tokenize_s",
        "waiters",
    )

    def __init__(self, opener: Ticket, row: Row, characters: int, cost: int) -> None:
        self.opener = opener
        self.row = row
        self.characters = characters
        self.cost = cost
        self.flights: list[Flight] = []
        self.phase = Phase.UNREAD
        self.prepared: PreparedRow | None = None
        self.tokenize_s = 0.0
        self.waiters = 0


class Flight:
    """A question about a state that an item computes, and the places that wait for it."""

    __slots__ = ("item", "key", "waiters")

    def __init__(self, key: bytes, item: Item) -> None:
        self.key = key
        self.item = item
        self.waiters: list[tuple[Ticket, int, int]] = []


class Ticket:
    """An admitted call and its answers so far.

    ``deadline``: local monotonic seconds or ``None``. ``open``: admitted, and neither answered nor
    cancelled. ``missing``: places without an answer. ``unread``: the rows somebody must tokenise
    for it. ``next_start`` and ``overtaken_s``: its place in the order (see ``order``). ``reply``
    is set once, when the call is answered.
    """

    __slots__ = (
        "answers",
        "deadline",
        "flights",
        "missing",
        "next_start",
        "open",
        "overtaken_s",
        "received",
        "reply",
        "tokens",
        "unread",
    )

    def __init__(self, call: ModelCall, now: float) -> None:
        self.received = now
        self.deadline = None if call.remaining_s is None else now + call.remaining_s
        self.answers: list[list[Answer | None]] = [[None] * len(r.questions) for r in call.rows]
        self.tokens = [0] * len(call.rows)
        self.missing = sum(map(len, self.answers))
        self.flights: list[Flight] = []
        self.unread: list[Item] = []
        self.next_start = 0.0
        self.overtaken_s = 0.0
        self.open = False
        self.reply: ModelReply | None = None

    def fill(self, row: int, question: int, answer: Answer, tokens: int) -> None:
        """``tokens`` is 0 where the state could not be tokenised for this question."""
        self.answers[row][question] = answer
        self.tokens[row] = max(self.tokens[row], tokens)
        self.missing -= 1


@dataclass(frozen=True, slots=True, eq=False)
class Forward:
    """Rows of one bucket to be computed together. ``tokens``: padded; ``predicted_s``: expected
    seconds; ``formed``: when it was taken from the queue."""

    items: tuple[Item, ...]
    rows: tuple[PreparedRow, ...]
    tokens: int
    predicted_s: float
    formed: float
