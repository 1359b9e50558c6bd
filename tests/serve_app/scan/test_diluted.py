"""A window that had to be read again and was not: SCAN-7, SCAN-8, COV-1, COV-2."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from models.questions.types import Answer, AnswerError, ErrorAnswer, NoulAnswer
from serve_app.outcome import Truth
from serve_app.scan.coverage import final_reading
from serve_app.scan.scan import Piece, Scan
from serve_app.scan.text import Text
from serve_app.scan.windows import Window, pieces
from tests.doubles.scans import LARGE, fail, give, rule, scan_of, text_of, truth

POLICIES = [
    ("best_effort", Truth.FALSE),
    ("match", Truth.TRUE),
    ("no_match", Truth.FALSE),
    ("unknown", Truth.UNKNOWN),
]


def merged(value: float = 0.45, **policy) -> Scan:
    """A scan of larger windows that are read, all of them, of which one answered ``value``."""
    scan = scan_of("x" * 30_000, rule(**policy), sizes=LARGE)
    for answer in (0.0001, 0.0001, value):
        give(scan, scan.next(0.0), answer)
    return scan


def read_on(scan: Scan, rereads: list[Piece]) -> None:
    """Reads what is planned; what is read again is left out."""
    while (piece := scan.next(0.0)) is not None:
        if piece.kind == "reread":
            rereads.append(piece)
        else:
            give(scan, piece, 0.0001)


@pytest.mark.parametrize(("on_unscanned", "expected"), POLICIES)
@pytest.mark.parametrize("error", [AnswerError.UNAVAILABLE, AnswerError.INVALID_INPUT])
def test_a_rule_that_was_not_read_again_is_judged_by_its_policy(on_unscanned, expected, error):
    """SCAN-7, COV-1: each window of it failed; what was read counts as before"""
    scan = merged(on_unscanned=on_unscanned)
    rereads: list[Piece] = []
    read_on(scan, rereads)
    assert [piece.window.size for piece in rereads] == [100, 26]
    for piece in rereads:
        fail(scan, piece, error)
    assert scan.next(0.0) is None
    assert truth(scan) is expected
    assert str(scan.found(0).coverage) == "full"
    reason = error if expected is Truth.UNKNOWN else None
    assert final_reading(scan.rules[0], scan.found(0)).reason is reason


@pytest.mark.parametrize("value", [0.45, 0.08])
@pytest.mark.parametrize("sent", [0, 1])
@pytest.mark.parametrize(("on_unscanned", "expected"), POLICIES)
def test_a_reread_that_the_deadline_cuts_off_is_missing_too(on_unscanned, expected, sent, value):
    """SCAN-7: never sent, or on its way, at once or when the rest was read"""
    scan = scan_of("x" * 30_000, rule(on_unscanned=on_unscanned), sizes=LARGE)
    out = [scan.next(0.0) for _ in range(scan.found(0).coverage.planned)]
    large = out.pop(2)
    for piece in out:
        give(scan, piece, 0.0001)
    give(scan, large, value)
    for _ in range(sent):
        assert scan.next(0.0).kind == "reread"
    assert truth(scan) is expected
    assert str(scan.found(0).coverage) == "full"
    assert scan.found(0).error is AnswerError.DEADLINE_EXCEEDED


@pytest.mark.parametrize("on_unscanned", [policy for policy, _ in POLICIES])
def test_a_rule_that_was_read_again_whole_is_judged_by_what_was_read(on_unscanned):
    """SCAN-7"""
    scan = merged(on_unscanned=on_unscanned)
    rereads: list[Piece] = []
    read_on(scan, rereads)
    give(scan, rereads[0], 0.0001)
    assert scan.found(0).diluted
    give(scan, rereads[1], 0.0001)
    assert not scan.found(0).diluted
    assert truth(scan) is Truth.FALSE


@pytest.mark.parametrize("on_unscanned", [policy for policy, _ in POLICIES])
def test_a_match_stands_whatever_else_was_not_read_again(on_unscanned):
    """SCAN-5, SCAN-7"""
    scan = merged(on_unscanned=on_unscanned, whole=True)
    rereads: list[Piece] = []
    read_on(scan, rereads)
    fail(scan, rereads[0], AnswerError.UNAVAILABLE)
    give(scan, rereads[1], 0.9)
    assert truth(scan) is Truth.TRUE
    assert not scan.found(0).diluted


@pytest.mark.parametrize(("on_unscanned", "expected"), POLICIES)
def test_the_tails_last_half_is_missing_where_it_was_not_read_again(on_unscanned, expected):
    """SCAN-8, COV-1"""
    scan = scan_of(text_of(10), rule(on_unscanned=on_unscanned))
    give(scan, scan.next(0.0), 0.1)
    rereads: list[Piece] = []
    read_on(scan, rereads)
    (half,) = rereads
    fail(scan, half, AnswerError.UNAVAILABLE)
    assert truth(scan) is expected
    assert str(scan.found(0).coverage) == "full"


def test_each_rule_lacks_its_own_answers_alone():
    """SCAN-7, SIG-5: one failed, one was late, one was read"""
    strict = {"on_unscanned": "match"}
    rules = [rule("jailbreak", **strict), rule("harm", **strict), rule("harm", **strict)]
    scan = scan_of(text_of(10), *rules)
    give(scan, scan.next(0.0), 0.1)
    half = scan.next(0.0)
    answers = {"jailbreak": ErrorAnswer(AnswerError.UNAVAILABLE), "harm": NoulAnswer(0.01)}
    scan.answered(half, answers, late={1})
    read_on(scan, [])
    assert [truth(scan, i) for i in range(3)] == [Truth.TRUE, Truth.TRUE, Truth.FALSE]


def test_nothing_is_missing_where_nothing_is_to_be_read_again():
    """SCAN-7: beyond the margin, or without one"""
    far = merged(0.04, on_unscanned="match")
    read_on(far, [])
    assert truth(far) is Truth.FALSE
    sizes = replace(LARGE, reread_margin=0)
    none = scan_of(text_of(10), rule(on_unscanned="match"), sizes=sizes)
    while (piece := none.next(0.0)) is not None:
        give(none, piece, 0.45)
    assert truth(none) is Truth.FALSE


SHIFTED = replace(LARGE, window=40, overlap=5, largest=80)
"""At these sizes the next larger window's first part holds the last part of the one before, since
its cut falls into a character."""


def test_a_part_is_not_read_again_that_lies_in_one_that_was_read():
    """SCAN-7: cuts at boundaries of characters leave such parts; merged windows of ASCII never do,
    whose parts are the windows that were merged"""
    scan = scan_of("é😀a" * 2_500, sizes=SHIFTED)
    parts: list[Piece] = []
    large = 0
    while (piece := scan.next(0.0)) is not None:
        if piece.kind == "reread":
            assert not any(before.window.holds(piece.window) for before in parts)
            parts.append(piece)
        elif piece.window.size > 40:
            large += 1
        give(scan, piece, 0.3 if piece.window.size > 40 else 0.0001)
    assert large > 200
    assert 2 * large < len(parts) < 3 * large
    assert not scan.found(0).diluted


def test_a_part_that_lies_in_one_that_failed_or_was_read_for_another_rule_is_read_again():
    """SCAN-7: read and answered, for the rule itself"""
    text = "é😀a" * 2_500
    scan = scan_of(text, rule("jailbreak"), rule("harm"), sizes=SHIFTED)
    needed: dict[str, list[Window]] = {"jailbreak": [], "harm": []}
    asked: dict[str, list[Window]] = {"jailbreak": [], "harm": []}
    read: dict[str, list[Window]] = {"jailbreak": [], "harm": []}
    for turn in count():
        piece = scan.next(0.0)
        if piece is None:
            break
        answers: dict[str, Answer] = {}
        for id, each in (("jailbreak", 2), ("harm", 3)):
            near = piece.window.size > 40 and turn % each == 0
            answers[id] = NoulAnswer(0.3 if near else 0.0001)
            if near:
                needed[id] += pieces(Text(text), piece.window, 40, 5)
            if piece.kind == "reread" and turn % 5 == 0:
                answers[id] = ErrorAnswer(AnswerError.UNAVAILABLE)
        for id in piece.questions:
            asked[id].append(piece.window)
            if piece.window.size <= 40 and isinstance(answers[id], NoulAnswer):
                read[id].append(piece.window)
        scan.answered(piece, answers)
    for id in needed:
        apart = [window for window in needed[id] if window not in asked[id]]
        assert apart
        assert all(any(other.holds(window) for other in read[id]) for window in apart)
