"""In which order a scan reads, and when a rule is decided: SCAN-2, SCAN-4, SCAN-5."""

from models.questions.presets import preset_question
from models.questions.types import NoulAnswer, Span, SpanAnswer
from serve_app.outcome import Truth
from serve_app.reading import Bounds, Criterion
from serve_app.scan.rule import ScannedRule
from tests.doubles.scans import (
    give,
    places,
    read_all,
    rule,
    scan_of,
    text_of,
    truth,
)


def test_the_tail_is_read_first_then_the_head_then_the_middle_by_bisection():
    """SCAN-2"""
    read = read_all(scan_of(text_of(10)))
    assert places(read)[:2] == [900, 0]
    assert places(read)[2:] == [100, 500, 300, 700, 200, 600, 400, 800]
    assert all(piece.kind == "planned" for piece in read)


def test_bisection_begins_where_chance_says():
    """SCAN-2"""
    assert places(read_all(scan_of(text_of(10), point=0.5)))[:3] == [900, 0, 500]


def test_a_match_decides_its_rule_and_ends_the_scan():
    """SCAN-5: unread windows cannot take it back"""
    scan = scan_of(text_of(10))
    read = read_all(scan, lambda piece: 0.9 if piece.window.start == 0 else 0.01)
    assert places(read) == [900, 0]
    assert scan.found(0).decided
    assert str(scan.found(0).coverage) == "partial 2/10"
    assert truth(scan) is Truth.TRUE


def test_a_decided_rule_is_dropped_from_later_windows():
    """SCAN-5: the others go on"""
    scan = scan_of(text_of(4), rule("jailbreak"), rule("harm"))
    asked = []
    while (piece := scan.next(0.0)) is not None:
        asked.append(tuple(piece.questions))
        answers = {id: NoulAnswer(0.9 if id == "jailbreak" else 0.1) for id in piece.questions}
        scan.answered(piece, answers)
    assert asked[0] == ("jailbreak", "harm")
    assert set(asked[1:]) == {("harm",)}
    assert (truth(scan, 0), truth(scan, 1)) == (Truth.TRUE, Truth.FALSE)
    assert [scan.found(i).coverage.read for i in (0, 1)] == [1, 4]


def test_a_rule_that_is_masked_reads_on_when_it_is_decided():
    """SCAN-5, SCAN-4: masking needs every span, where it stands in the input"""
    scan = scan_of(text_of(3), rule("pii", whole=True))
    read = 0
    while (piece := scan.next(0.0)) is not None:
        read += 1
        spans = (Span("PERSON", 2, 6, piece.text[2:6], 0.9),)
        scan.answered(piece, {"pii": SpanAnswer(spans)})
    assert read == 3
    assert [(s.start, s.end) for s in scan.found(0).spans] == [(2, 6), (102, 106), (202, 206)]
    assert all(s.text == text_of(3)[s.start : s.end] for s in scan.found(0).spans)


def test_a_guards_value_is_the_greatest_of_its_windows():
    """SCAN-4"""
    scan = scan_of(text_of(5))
    read_all(scan, lambda piece: 0.4 if piece.window.start == 200 else 0.02)
    assert scan.found(0).values == (0.4,)
    assert str(scan.found(0).coverage) == "full"


def test_a_window_is_compared_with_the_threshold_for_windows():
    """SCAN-4: the card's, where it has one"""
    criterion = Criterion((0,), Bounds.make(gte=0.5), of_windows=Bounds.make(gte=0.95))
    scan = scan_of(text_of(3), ScannedRule("jailbreak", preset_question("jailbreak"), (criterion,)))
    read_all(scan, lambda piece: 0.9)
    assert truth(scan) is Truth.FALSE
    assert not scan.found(0).decided


def test_a_rule_is_decided_when_every_condition_on_it_is_met():
    """SCAN-5: one that asks for more than the rule itself may match in a later window"""
    criteria = tuple(Criterion((0,), Bounds.make(gte=bound)) for bound in (0.5, 0.9))
    scan = scan_of(text_of(3), ScannedRule("jailbreak", preset_question("jailbreak"), criteria))
    give(scan, scan.next(0.0), 0.6)
    assert not scan.found(0).decided
    read_all(scan, lambda piece: 0.95)
    assert scan.found(0).decided


def test_a_rule_whose_value_is_summed_reads_every_window() -> None:
    """SCAN-4, CFG-9: a projection has the greatest of its windows'"""
    scan = scan_of(text_of(10), rule(whole=True))
    read_all(scan, lambda piece: 0.99 if piece.window.start == 400 else 0.6)
    assert scan.found(0).values == (0.99,)
    assert scan.found(0).coverage.result == "full"
