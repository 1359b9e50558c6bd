"""Windows that are read again: SCAN-7, SCAN-8."""

from dataclasses import replace

import pytest

from models.questions.types import NoulAnswer
from serve_app.outcome import Truth
from tests.doubles.scans import (
    LARGE,
    give,
    large,
    read_all,
    rule,
    scan_of,
    text_of,
    truth,
)


@pytest.mark.parametrize(
    ("threshold", "value", "again"),
    [
        (0.995, 0.91, True),
        (0.995, 0.90, False),
        (0.88, 0.27, True),
        (0.88, 0.26, False),
        (0.5, 0.05, True),
        (0.5, 0.04, False),
    ],
)
def test_a_diluted_answer_is_read_again_within_the_margin(threshold, value, again):
    """SCAN-7: of a larger window; from about 0.91, 0.27 and 0.05 on"""
    scan, _ = large(value, threshold)
    rereads = [piece for piece in read_all(scan, lambda piece: 0.0001) if piece.kind == "reread"]
    assert [piece.window.size for piece in rereads] == ([100, 26] if again else [])


def test_a_near_gap_is_read_again_before_everything_else():
    """SCAN-7: within half of the margin, where diluted matches usually lie"""
    scan, (_, _, merged) = large(0.3)
    assert merged.window.size > 100
    pieces = [scan.next(0.0), scan.next(0.0)]
    assert [piece.kind for piece in pieces] == ["reread", "reread"]
    assert pieces[0].window.start == merged.window.start
    assert pieces[-1].window.end == merged.window.end
    give(scan, pieces[0], 0.9)
    assert scan.next(0.0) is None
    assert truth(scan) is Truth.TRUE


def test_a_wide_gap_waits_until_the_rest_is_read_nearest_first():
    """SCAN-7: behind schedule, merged windows go before such rereads"""
    scan, (_, _, merged) = large(0.08)
    nearer = None
    kinds = []
    while (piece := scan.next(0.0)) is not None:
        kinds.append(piece.kind)
        if piece.kind == "planned" and nearer is None:
            nearer = piece
            give(scan, piece, 0.09)
        else:
            give(scan, piece, 0.0001)
            if piece.kind == "reread" and kinds.count("reread") == 1:
                assert nearer is not None
                assert piece.window.start == nearer.window.start
    assert kinds == sorted(kinds)  # planned, then reread
    assert kinds.count("reread") == 4
    assert scan.found(0).coverage.read == scan.found(0).coverage.planned
    assert merged.window.size > 100


def test_wide_gaps_wait_until_every_window_that_is_out_has_come_back() -> None:
    """SCAN-7: nearest first, and the nearest may be among them"""
    scan, _ = large(0.08)
    out = []
    while (piece := scan.next(0.0)) is not None and piece.kind == "planned":
        out.append(piece)
    assert piece is None
    for window in out:
        give(scan, window, 0.0001)
    assert scan.next(0.0).kind == "reread"


def test_a_margin_of_zero_reads_nothing_again():
    """SCAN-7"""
    scan = scan_of("x" * 30_000, sizes=replace(LARGE, reread_margin=0))
    assert all(piece.kind == "planned" for piece in read_all(scan, lambda piece: 0.499))


def test_a_window_that_matched_is_never_read_again():
    """SCAN-7"""
    scan, _ = large(0.6)
    assert scan.next(0.0) is None


def test_only_rules_within_the_margin_are_asked_again():
    """SCAN-7: other rules that share the window may be"""
    scan = scan_of("x" * 30_000, rule("jailbreak"), rule("harm"), sizes=LARGE)
    for _ in range(2):
        give(scan, scan.next(0.0), 0.0001)
    merged = scan.next(0.0)
    scan.answered(merged, {"jailbreak": NoulAnswer(0.3), "harm": NoulAnswer(0.001)})
    assert tuple(scan.next(0.0).questions) == ("jailbreak",)


def test_windows_of_one_piece_are_asked_for_all_rules_that_are_near() -> None:
    """SCAN-3, SCAN-7: one call"""
    scan = scan_of("x" * 30_000, rule("jailbreak"), rule("harm"), sizes=LARGE)
    for _ in range(2):
        give(scan, scan.next(0.0), 0.0001)
    merged = scan.next(0.0)
    scan.answered(merged, {"jailbreak": NoulAnswer(0.3), "harm": NoulAnswer(0.06)})
    assert tuple(scan.next(0.0).questions) == ("jailbreak", "harm")


def test_the_tails_last_half_is_read_again_at_once():
    """SCAN-8: one more window, which may end the scan"""
    scan = scan_of(text_of(10))
    give(scan, scan.next(0.0), 0.1)
    half = scan.next(0.0)
    assert (half.kind, half.window.start, half.window.end) == ("reread", 950, 1_000)
    give(scan, half, 0.8)
    assert scan.next(0.0) is None
    assert truth(scan) is Truth.TRUE
    assert str(scan.found(0).coverage) == "partial 1/10"


def test_a_tail_that_is_far_below_is_read_once():
    """SCAN-8"""
    scan = scan_of(text_of(10))
    give(scan, scan.next(0.0), 0.04)
    assert scan.next(0.0).kind == "planned"


@pytest.mark.parametrize(
    ("size", "again"), [(40, []), (50, []), (51, [(1, 51)]), (100, [(50, 100)])]
)
def test_an_input_of_one_window_is_its_own_tail(size, again):
    """SCAN-8: of half a window nothing is left to be read without the rest"""
    scan = scan_of("x" * size)
    first, *rest = read_all(scan, lambda piece: 0.1)
    assert (first.window.start, first.window.end) == (0, size)
    assert [(piece.window.start, piece.window.end) for piece in rest] == again
    assert str(scan.found(0).coverage) == "full"
