"""A scan that is in time, and one that is not: SCAN-9, SCAN-10."""

from collections.abc import Callable

import pytest

from models.questions.types import NoulAnswer
from serve_app.scan.scan import Piece, Scan
from serve_app.scan.speed import Speed
from tests.doubles.scans import (
    LARGE,
    give,
    known_speed,
    rule,
    scan_of,
    text_of,
)


def paced(scan: Scan, each_s: Callable[[int], float], until: float) -> list[Piece]:
    """Reads one window at a time, each taking ``each_s`` by its size, until the deadline."""
    now, read = 0.0, []
    while now < until and (piece := scan.next(now)) is not None:
        seconds = each_s(piece.window.size)
        now += seconds
        if now <= until:
            bounds = {i: scan.rules[i].timeout_s for i in piece.rules}
            late = {i for i, bound in bounds.items() if bound is not None and seconds > bound}
            answers = {id: NoulAnswer(0.0001) for id in piece.questions}
            scan.answered(piece, answers, late=late, seconds=seconds)
            read.append(piece)
    return read


def test_a_scan_that_is_in_time_reads_at_the_configured_size():
    """SCAN-9: however fast larger windows would be"""
    speed = known_speed(1.0, 0.001)
    scan = scan_of(text_of(20), sizes=LARGE, speed=speed, deadline=30.0)
    read = paced(scan, lambda size: 1.1, 30.0)
    assert len(read) == 20
    assert {piece.window.size for piece in read} == {100}


def test_behind_schedule_neighbours_are_merged_into_the_shortest_runs_that_finish():
    """SCAN-9"""
    speed = known_speed(1.0, 0.001)
    scan = scan_of(text_of(20), sizes=LARGE, speed=speed, deadline=14.0)
    read = paced(scan, lambda size: 1.0 + size / 1_000, 14.0)
    assert {piece.window.size for piece in read[:2]} == {100}
    sizes = [piece.window.size for piece in read]
    assert 200 in sizes
    assert max(sizes) == 200
    covered = {i for p in read for i in range(p.window.start, p.window.end)}
    assert covered == set(range(2_000))
    assert scan.found(0).coverage.result == "full"
    assert scan.found(0).coverage.planned < 20


def test_where_larger_windows_would_not_finish_either_they_stay_as_they_are():
    """SCAN-9: it reads what it can"""
    speed = known_speed(0.0, 0.01)
    scan = scan_of(text_of(20), sizes=LARGE, speed=speed, deadline=9.5)
    read = paced(scan, lambda size: size / 100, 9.5)
    assert {piece.window.size for piece in read} == {100}
    assert str(scan.found(0).coverage) == "partial 9/20"


def test_a_speed_that_is_not_known_merges_nothing():
    """SCAN-9: only if the measured speed says that it helps"""
    scan = scan_of(text_of(20), sizes=LARGE, deadline=5.0)
    read = paced(scan, lambda size: 1.0, 5.0)
    assert {piece.window.size for piece in read} == {100}


def test_a_call_that_waited_for_room_is_no_measure():
    """SCAN-10"""
    speed = Speed()
    scan = scan_of(text_of(9), speed=speed)
    give(scan, scan.next(0.0), 0.01, seconds=None)
    assert speed == Speed()
    give(scan, scan.next(0.0), 0.01, seconds=1.0)
    assert speed != Speed()


def test_an_input_of_two_windows_keeps_its_pace() -> None:
    """SCAN-9: there is nothing to merge"""
    scan = scan_of("x" * 150, sizes=LARGE, speed=known_speed(1.0, 0.001), deadline=1.5)
    assert len(paced(scan, lambda size: 1.0, 10.0)) == 2


def test_a_scan_that_reads_some_windows_at_once_is_as_fast_as_they_are_together() -> None:
    """SCAN-9: the first of four answers is no sign of being late"""
    speed = known_speed(0.9, 0.001)
    scan = scan_of(text_of(100), sizes=LARGE, speed=speed, deadline=30.0)
    out = [scan.next(0.0) for _ in range(4)]
    now = 1.0
    while out:
        give(scan, out.pop(0), 0.0001, 1.0)
        piece = scan.next(now)
        if piece is not None:
            out.append(piece)
        now += 0.25
    assert str(scan.found(0).coverage) == "full"
    assert scan.found(0).coverage.planned == 100


def bounded(*bounds: float | None) -> Scan:
    """Of 30 windows of 0.7 s, 21 s in all, with 14 s for them; a run of two takes 0.8 s."""
    rules = [rule(timeout_s=bound) for bound in bounds]
    speed = known_speed(0.6, 0.001)
    return scan_of(text_of(30), *rules, sizes=LARGE, speed=speed, deadline=14.0)


def longest_run(scan: Scan) -> int:
    return max(piece.window.size for piece in paced(scan, lambda size: 0.6 + size / 1_000, 14.0))


@pytest.mark.parametrize(
    ("bounds", "longest"),
    [((None,), 200), ((0.8,), 200), ((0.75,), 100), ((None, 0.75), 100), ((0.9, 0.75), 100)],
)
def test_windows_are_not_merged_beyond_what_a_call_may_take(bounds, longest) -> None:
    """SCAN-9, BUD-3: a window that is late was read for nothing, for any rule that is in time"""
    assert longest_run(bounded(*bounds)) == longest


@pytest.mark.parametrize("hasty", [0.5, 0.1])
def test_a_rule_that_is_late_with_every_window_keeps_none_from_being_merged(hasty) -> None:
    """SCAN-9, BUD-3: it reads nothing either way"""
    assert longest_run(bounded(hasty, None)) == 200
    assert longest_run(bounded(hasty, 0.9)) == 200
    assert longest_run(bounded(hasty, 0.75)) == 100
