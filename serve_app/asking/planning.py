"""Questions into calls: one per deployment, an entry per distinct state (SIG-3, MRG-2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from models.questions.types import JsonValue, Question
from serve_app.asking.call import Call, Entry


class Ordered(Protocol):
    """Names a state and gives it its place among others (SIG-4)."""

    def __lt__(self, other: Self, /) -> bool: ...
    def __hash__(self) -> int: ...


K = TypeVar("K", bound=Ordered)


@dataclass(frozen=True, slots=True)
class Wanted(Generic[K]):
    """A question to ask. One deployment's equal ids are one question (SIG-5).

    ``timeout_s`` bounds how long its asker waits, ``None`` not at all.
    """

    deployment: str
    state: K
    id: str
    question: Question
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedCall(Generic[K]):
    """A call without its states' contents. ``timeout_s``: the longest of its questions'."""

    deployment: str
    entries: tuple[tuple[K, Mapping[str, Question]], ...]
    timeout_s: float | None

    def call(self, states: Mapping[K, JsonValue]) -> tuple[Call, dict[K, str]]:
        """The call, and the entry that holds each state.

        States that turn out equal share an entry, so that a single one is a standard request.
        """
        entries: dict[str, Entry] = {}
        names: dict[K, str] = {}
        for key, questions in self.entries:
            state = states[key]
            for name, entry in entries.items():
                if entry.state == state:
                    entries[name] = Entry(state, {**entry.questions, **questions})
                    break
            else:
                name = str(len(entries) + 1)
                entries[name] = Entry(state, questions)
            names[key] = name
        return Call(self.deployment, entries, self.timeout_s), names


def plan(wanted: Iterable[Wanted[K]]) -> tuple[PlannedCall[K], ...]:
    """One call per deployment, in the deployments' order of names.

    Entries follow their states' order; within one, questions keep the order of ``wanted``.
    """
    by_deployment: dict[str, list[Wanted[K]]] = {}
    for one in wanted:
        by_deployment.setdefault(one.deployment, []).append(one)
    return tuple(_planned(name, by_deployment[name]) for name in sorted(by_deployment))


def _planned(deployment: str, wanted: list[Wanted[K]]) -> PlannedCall[K]:
    entries: dict[K, dict[str, Question]] = {}
    for one in wanted:
        entries.setdefault(one.state, {})[one.id] = one.question
    bound = longest([one.timeout_s for one in wanted])
    return PlannedCall(deployment, tuple((key, entries[key]) for key in sorted(entries)), bound)


def longest(bounds: Collection[float | None]) -> float | None:
    """How long a call waits whose questions have these bounds; ``None`` waits for ever."""
    return None if None in bounds else max(bound for bound in bounds if bound is not None)
