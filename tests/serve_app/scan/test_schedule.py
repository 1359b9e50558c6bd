"""Merging by a speed that is known exactly: what finishes in time is left as it is, and what is
merged finishes in time. SCAN-9."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.config.sizes import Sizes
from serve_app.scan.speed import Speed
from tests.doubles.scans import LARGE, SIZES, Driven, drive, known_speed, rule, scan_of, text_of


def sizes_of(driven: Driven) -> set[int]:
    return {piece.window.size for piece in driven.sent}


@pytest.mark.parametrize("deadline", [6.0, 6.1, 6.2, 6.36])
def test_what_four_at_once_read_in_time_is_not_merged(deadline: float) -> None:
    """SCAN-9: 24 windows of a second are six rounds, whatever each of the four that are out adds to
    those that wait"""
    scan = scan_of(text_of(24), sizes=LARGE, speed=known_speed(0.2, 0.008), deadline=deadline)
    driven = drive(scan, lambda size: 0.2 + 0.008 * size, parallel=4, until=deadline)
    assert str(scan.found(0).coverage) == "full"
    assert scan.found(0).coverage.planned == 24
    assert driven.ended == pytest.approx(6.0)


@pytest.mark.parametrize(("deadline", "planned"), [(5.9, 14), (4.5, 12)])
def test_windows_are_merged_with_several_out_at_once(deadline: float, planned: int) -> None:
    """SCAN-9: into runs as short as finish in time, in whole rounds, after those that are out"""
    speed = known_speed(0.8, 0.002)
    scan = scan_of(text_of(24), sizes=LARGE, speed=speed, deadline=deadline)
    driven = drive(scan, lambda size: 0.8 + 0.002 * size, parallel=4, until=deadline)
    assert str(scan.found(0).coverage) == "full"
    assert scan.found(0).coverage.planned == len(driven.read) == planned
    assert driven.ended <= deadline


def test_what_no_run_finishes_in_time_is_read_as_far_as_it_goes() -> None:
    """SCAN-9: with several out at once"""
    speed = known_speed(0.8, 0.002)
    scan = scan_of(text_of(24), sizes=LARGE, speed=speed, deadline=3.6)
    driven = drive(scan, lambda size: 0.8 + 0.002 * size, parallel=4, until=3.6)
    assert str(scan.found(0).coverage) == "partial 12/24"
    assert sizes_of(driven) == {100}


@st.composite
def schedules(draw: st.DrawFn) -> tuple[str, Sizes, float, float, int]:
    """A text, of full windows alone, its sizes, what a call costs, and how many are out at once."""
    overlap = draw(st.sampled_from([0, 20]))
    largest = draw(st.sampled_from([100, 200, 300, 500, 1_000]))
    windows = draw(st.integers(2, 90))
    if draw(st.integers(0, 19)) == 0:
        windows = draw(st.integers(257, 700))  # of which the middle is read in larger ones
    sizes = replace(SIZES, overlap=overlap, largest=largest)
    fixed = draw(st.integers(0, 1_000)) / 1_000
    per_byte = draw(st.integers(0, 10)) / 1_000
    text = "x" * (windows * (100 - overlap) + overlap)
    return text, sizes, fixed, per_byte + 1e-5, draw(st.integers(1, 8))


@settings(max_examples=1_000)
@given(schedules(), st.floats(0.3, 1.2))
def test_only_what_is_late_is_merged_and_then_it_is_in_time(
    given_schedule: tuple[str, Sizes, float, float, int], share: float
) -> None:
    """SCAN-9: by the speed that was measured, which is the one it is read at"""
    text, sizes, fixed, per_byte, parallel = given_schedule

    def seconds(size: int) -> float:
        return fixed + per_byte * size

    whole = drive(scan_of(text, sizes=sizes), seconds, parallel=parallel)
    deadline = share * whole.ended
    plain = scan_of(text, sizes=sizes, speed=Speed(), deadline=deadline)
    unmerged = drive(plain, seconds, parallel=parallel, until=deadline)
    speed = known_speed(fixed, per_byte)
    scan = scan_of(text, rule(), sizes=sizes, speed=speed, deadline=deadline)
    driven = drive(scan, seconds, parallel=parallel, until=deadline)
    if deadline >= whole.ended:
        assert [p.window for p in driven.read] == [p.window for p in whole.read]
    elif sizes_of(driven) <= sizes_of(whole):
        assert len(driven.read) == len(unmerged.read)
    else:
        assert scan.found(0).coverage.read == scan.found(0).coverage.planned
