"""Rounds are interleaved, and only one contestant has the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.harness.contest import MOST, Arena, Contestant, rotated
from benchmarks.harness.proc import Process, Reading
from benchmarks.harness.process_group import ProcessGroup
from benchmarks.harness.result import Result


class RecordedGroup:
    """Writes down who is awake; uses ``cpu_s`` more CPU at each reading."""

    log = Path("a-log")

    def __init__(self, name: str, awake: set[str], cpu_s: float = 0.0) -> None:
        self.name = name
        self.awake = awake
        self.cpu_s = cpu_s
        self.used = 0.0

    def pause(self) -> None:
        self.awake.discard(self.name)

    def resume(self) -> None:
        self.awake.add(self.name)

    def reading(self) -> Reading:
        self.used += self.cpu_s
        return Reading.of([Process(1, 1, 1, self.name, self.used)])


class Table:
    """Contestants that write down each turn: who, callers, first prompt, who was awake."""

    def __init__(self) -> None:
        self.awake: set[str] = set()
        self.turns: list[tuple[str, int, int, frozenset[str]]] = []

    def contestant(
        self, name: str, *, group: str | None = None, only: int | None = None, cpu_s: float = 0.0
    ) -> Contestant:
        recorded = RecordedGroup(group or name, self.awake, cpu_s)
        return Contestant(name, cast("ProcessGroup", recorded), self._play(name), only)

    def _play(self, name: str) -> Callable[[int, float, int], Result]:
        def play(callers: int, seconds: float, first: int) -> Result:
            self.turns.append((name, callers, first, frozenset(self.awake)))
            return Result([1.0, 2.0, 3.0, 4.0], seconds=2.0, sent=8, failed=1)

        return play

    def arena(self, *contestants: Contestant) -> Arena:
        generator = cast("ProcessGroup", RecordedGroup("generator", set(), 0.004))
        return Arena(contestants, generator, settle_s=0.0)


def test_everyone_plays_once_at_each_number_of_callers() -> None:
    table = Table()
    arena = table.arena(table.contestant("a"), table.contestant("b"), table.contestant("c"))
    cells = list(arena.round(0, [1, 16], 3.0))
    assert Counter((c.contestant, c.callers) for c in cells) == Counter(
        (name, callers) for name in "abc" for callers in (1, 16)
    )


def test_who_can_have_one_caller_alone_plays_only_then() -> None:
    table = Table()
    arena = table.arena(table.contestant("bare", only=1), table.contestant("b"))
    cells = list(arena.round(0, [1, 4], 3.0))
    assert {(c.contestant, c.callers) for c in cells} == {("bare", 1), ("b", 1), ("b", 4)}


def test_all_others_stand_still_while_one_plays() -> None:
    table = Table()
    arena = table.arena(table.contestant("a"), table.contestant("b"))
    arena.rest()
    list(arena.round(0, [1, 4], 3.0))
    assert all(awake == {name} for name, _, _, awake in table.turns)


def test_no_prompt_is_used_twice() -> None:
    table = Table()
    arena = table.arena(table.contestant("a"), table.contestant("b"))
    arena.warm_up([1, 4], 1.0)
    for number in range(3):
        list(arena.round(number, [1, 4], 3.0))
    firsts = sorted(first for _, _, first, _ in table.turns)
    assert len(firsts) == 16
    assert all(b - a >= MOST for a, b in pairwise(firsts))


def test_a_cell_has_rate_latencies_and_cpu_of_every_request_sent() -> None:
    table = Table()
    (cell,) = table.arena(table.contestant("a", cpu_s=0.016)).round(2, [4], 3.0)
    assert (cell.round, cell.requests, cell.failed, cell.rate) == (2, 4, 1, 2.0)
    assert cell.p50 == 2.5
    assert cell.cpu_ms == {"a": pytest.approx(2.0)}
    assert cell.generator_cpu_ms == pytest.approx(0.5)


def test_a_contestant_without_an_answer_stops_the_run() -> None:
    group = cast("ProcessGroup", RecordedGroup("a", set()))
    silent = Contestant("silent", group, lambda *_: Result(seconds=1.0, sent=3, failed=3))
    with pytest.raises(RuntimeError, match=r"silent.*a-log"):
        list(Table().arena(silent).round(0, [1], 1.0))


def test_a_group_that_stays_awake_is_never_stopped() -> None:
    table = Table()
    first, second = table.contestant("a"), table.contestant("b")
    arena = Arena([first, second], second.group, awake=[first.group], settle_s=0.0)
    first.group.resume()
    arena.rest()
    list(arena.round(0, [1], 1.0))
    assert {name: awake for name, _, _, awake in table.turns} == {"a": {"a"}, "b": {"a", "b"}}


@given(st.integers(1, 6), st.integers(0, 5))
def test_in_a_full_turn_each_stands_once_at_every_place(size: int, turns: int) -> None:
    players = [Table().contestant(str(n)) for n in range(size)]
    orders = [rotated(players, turns * size + n) for n in range(size)]
    for place in range(size):
        assert {order[place].name for order in orders} == {p.name for p in players}


def test_every_other_turn_runs_backwards() -> None:
    players = [Table().contestant(name) for name in "abc"]
    orders = ["".join(p.name for p in rotated(players, turn)) for turn in range(6)]
    assert orders == ["abc", "bca", "cab", "cba", "acb", "bac"]
