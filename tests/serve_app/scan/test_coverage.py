"""What a scan that was not read to the end says: COV-1 to COV-3, SCAN-6."""

from dataclasses import replace

import pytest

from models.questions.presets import preset_question
from models.questions.types import AnswerError, NoulAnswer
from serve_app.outcome import Truth
from serve_app.reading import Bounds, Criterion
from serve_app.scan.coverage import final_reading
from serve_app.scan.rule import ScannedRule
from serve_app.scan.scan import Scan
from tests.doubles.scans import (
    fail,
    give,
    large,
    read_all,
    rule,
    scan_of,
    text_of,
    truth,
)


def test_no_more_than_256_windows_are_read():
    """SCAN-6: what is left counts as unread"""
    scan = scan_of("x" * 40_000)
    assert len(read_all(scan, lambda piece: 0.0001)) == 256
    assert str(scan.found(0).coverage) == "partial 256/400"
    assert scan.found(0).error is AnswerError.MAX_LENGTH_EXCEEDED


def partly(**policy) -> Scan:
    """A scan that a deadline ended when two of ten windows were read."""
    scan = scan_of(text_of(10), rule(**policy))
    for _ in range(2):
        give(scan, scan.next(0.0), 0.02)
    scan.next(0.0)
    return scan


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, Truth.FALSE),
        ({"on_unscanned": "best_effort"}, Truth.FALSE),
        ({"on_unscanned": "match"}, Truth.TRUE),
        ({"on_unscanned": "no_match"}, Truth.FALSE),
        ({"on_unscanned": "unknown"}, Truth.UNKNOWN),
        ({"min_coverage": 0.2}, Truth.FALSE),
        ({"min_coverage": 0.21}, Truth.UNKNOWN),
        ({"min_coverage": 0.9, "on_unscanned": "best_effort"}, Truth.UNKNOWN),
        ({"min_coverage": 0.9, "on_unscanned": "match"}, Truth.TRUE),
        ({"min_coverage": 0.9, "on_unscanned": "no_match"}, Truth.FALSE),
        ({"min_coverage": 0.9, "on_unscanned": "unknown"}, Truth.UNKNOWN),
        ({"min_coverage": 0.1, "on_unscanned": "match"}, Truth.TRUE),
        ({"min_coverage": 0.1, "on_unscanned": "no_match"}, Truth.FALSE),
        ({"min_coverage": 0.1, "on_unscanned": "unknown"}, Truth.UNKNOWN),
    ],
)
def test_what_unread_windows_say_of_a_rule_is_its_policy(policy, expected):
    """COV-1, COV-2"""
    scan = partly(**policy)
    assert str(scan.found(0).coverage) == "partial 2/10"
    assert truth(scan) is expected


@pytest.mark.parametrize("on_unscanned", ["best_effort", "match", "no_match", "unknown"])
def test_a_match_stands_whatever_is_unread(on_unscanned):
    """COV-1"""
    scan = scan_of(text_of(10), rule(on_unscanned=on_unscanned, min_coverage=1.0))
    give(scan, scan.next(0.0), 0.9)
    assert truth(scan) is Truth.TRUE


def test_a_condition_that_is_met_stands_when_another_is_not() -> None:
    """SCAN-5, COV-1: unread windows cannot take it back, whatever they count as"""
    low, high = (Criterion((0,), Bounds.make(gte=bound)) for bound in (0.5, 0.9))
    for policy, expected in (
        ({}, Truth.FALSE),
        ({"on_unscanned": "match"}, Truth.TRUE),
        ({"on_unscanned": "unknown"}, Truth.UNKNOWN),
        ({"min_coverage": 0.9}, Truth.UNKNOWN),
    ):
        asked = ScannedRule("jailbreak", preset_question("jailbreak"), (low, high), **policy)
        scan = scan_of(text_of(10), asked)
        give(scan, scan.next(0.0), 0.8)
        assert not scan.found(0).decided
        reading = final_reading(asked, scan.found(0))
        assert (low.truth(reading), high.truth(reading)) == (Truth.TRUE, expected)


@pytest.mark.parametrize("on_unscanned", ["best_effort", "match", "no_match", "unknown"])
def test_a_rule_of_which_no_window_was_read_is_unknown(on_unscanned):
    """COV-3"""
    scan = scan_of(text_of(3), rule(on_unscanned=on_unscanned))
    while (piece := scan.next(0.0)) is not None:
        fail(scan, piece, AnswerError.UNAVAILABLE)
    assert truth(scan) is Truth.UNKNOWN
    assert final_reading(scan.rules[0], scan.found(0)).reason is AnswerError.UNAVAILABLE
    assert str(scan.found(0).coverage) == "none"


@pytest.mark.parametrize("least", [{}, {"min_coverage": 0.1}, {"min_coverage": 0.9}])
@pytest.mark.parametrize(
    ("on_unscanned", "expected"),
    [
        ("best_effort", Truth.UNKNOWN),
        ("match", Truth.TRUE),
        ("no_match", Truth.FALSE),
        ("unknown", Truth.UNKNOWN),
    ],
)
def test_a_window_that_could_not_be_read_makes_the_rule_unknown_instead_of_best_effort(
    on_unscanned, expected, least
):
    """COV-1, COV-2: of the other policies it is a window like any that is unread"""
    scan = scan_of(text_of(3), rule(on_unscanned=on_unscanned, **least))
    give(scan, scan.next(0.0), 0.01)
    fail(scan, scan.next(0.0), AnswerError.INVALID_INPUT)
    give(scan, scan.next(0.0), 0.01)
    assert str(scan.found(0).coverage) == "partial 2/3"
    assert truth(scan) is expected
    reason = final_reading(scan.rules[0], scan.found(0)).reason
    assert reason is (AnswerError.INVALID_INPUT if expected is Truth.UNKNOWN else None)


def test_a_failed_window_is_unread_and_the_others_judge():
    """COV-1"""
    scan = scan_of(text_of(3))
    give(scan, scan.next(0.0), 0.01)
    fail(scan, scan.next(0.0), AnswerError.DEADLINE_EXCEEDED)
    give(scan, scan.next(0.0), 0.01)
    assert truth(scan) is Truth.FALSE


def test_a_rule_that_is_late_is_not_read_where_the_others_are() -> None:
    """BUD-3, SIG-5: also where they share a question"""
    own = replace(rule(), timeout_s=0.1)
    scan = scan_of(text_of(2), own, rule())
    piece = scan.next(0.0)
    scan.answered(piece, {"jailbreak": NoulAnswer(0.2)}, late={0})
    assert [scan.found(i).coverage.read for i in (0, 1)] == [0, 1]
    assert scan.found(0).error is AnswerError.DEADLINE_EXCEEDED


@pytest.mark.parametrize("read", [7, 55, 29])
def test_a_share_that_is_just_reached_is_enough(read) -> None:
    """COV-2"""
    scan = scan_of(text_of(100), rule(min_coverage=read / 100))
    for _ in range(read):
        give(scan, scan.next(0.0), 0.0001)
    assert truth(scan) is Truth.FALSE


def test_rereads_count_neither_as_read_nor_as_planned():
    """COV-2"""
    scan, _ = large(0.3)
    before = scan.found(0).coverage.planned
    give(scan, scan.next(0.0), 0.01)
    assert scan.found(0).coverage.planned == before
    assert scan.found(0).coverage.read == 3


def test_what_is_decided_early_is_told() -> None:
    """COV-4: also where the other windows are answered later"""
    scan = scan_of(text_of(2))
    first, second = scan.next(0.0), scan.next(0.0)
    give(scan, first, 0.9)
    give(scan, second, 0.1)
    assert scan.found(0).coverage.decided
