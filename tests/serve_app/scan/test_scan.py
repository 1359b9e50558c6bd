"""A scan as a state machine, on a clock of its own: SCAN-2 to SCAN-9, COV-1 to COV-3."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from models.questions.presets import preset_question
from models.questions.types import (
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    QuestionType,
    Span,
    SpanAnswer,
)
from serve_app.config.sizes import Sizes
from serve_app.outcome import Truth
from serve_app.reading import Bounds, Criterion
from serve_app.scan.coverage import reading_of
from serve_app.scan.rule import ScannedRule
from serve_app.scan.scan import Piece, Scan
from serve_app.scan.speed import Speed

SIZES = Sizes(view=100, head_share=0.25, window=100, overlap=0, largest=100, max_parallel=4,
              reread_margin=3)  # fmt: skip
LARGE = replace(SIZES, largest=400)
THRESHOLD = 0.5

Answers = Callable[[Piece], float]


def rule(name: str = "jailbreak", threshold: float = THRESHOLD, **policy) -> ScannedRule:
    question = preset_question(name)
    options = range(len(question.options) if question.type is QuestionType.SPAN else 1)
    criterion = Criterion(tuple(options), Bounds.make(gte=threshold))
    return ScannedRule(name, question, (criterion,), **policy)


def scan_of(text: str, *rules: ScannedRule, sizes: Sizes = SIZES, **given) -> Scan:
    settings = {"point": 0.0, "speed": Speed(), "deadline": 1e9}
    return Scan(text, sizes, rules or (rule(),), **(settings | given))


def text_of(windows: int) -> str:
    return "".join(f"{i:04}" for i in range(windows * 25))


def give(scan: Scan, piece: Piece, probability: float, seconds: float | None = None) -> None:
    answers = {id: NoulAnswer(probability) for id in piece.questions}
    scan.answered(piece, answers, seconds=seconds)


def fail(scan: Scan, piece: Piece, error: AnswerError) -> None:
    scan.answered(piece, {id: ErrorAnswer(error) for id in piece.questions})


def read_all(scan: Scan, answers: Answers = lambda piece: 0.01) -> list[Piece]:
    """Reads on, one window at a time, until there is none left."""
    read = []
    while (piece := scan.next(0.0)) is not None:
        read.append(piece)
        give(scan, piece, answers(piece))
    assert not scan.waiting
    return read


def places(pieces: list[Piece]) -> list[int]:
    return [piece.window.start for piece in pieces]


def truth(scan: Scan, index: int = 0) -> Truth:
    found = scan.found(index)
    return scan.rules[index].criteria[0].truth(reading_of(scan.rules[index], found))


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


def large(value: float, threshold: float = THRESHOLD, **settings) -> tuple[Scan, list[Piece]]:
    """A scan of 300 windows' text in larger ones, of which the first answers ``value``."""
    scan = scan_of("x" * 30_000, rule(threshold=threshold), sizes=LARGE, **settings)
    first = scan.next(0.0), scan.next(0.0), scan.next(0.0)
    for piece in first[:2]:
        give(scan, piece, 0.0001)
    give(scan, first[2], value)
    return scan, list(first)


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


def known_speed(fixed: float, per_byte: float) -> Speed:
    speed = Speed()
    for size in (50, 100, 200, 400) * 3:
        speed.measured(size, fixed + per_byte * size)
    return speed


def paced(scan: Scan, each_s: Callable[[int], float], until: float) -> list[Piece]:
    """Reads one window at a time, each taking ``each_s`` by its size, until the deadline."""
    now, read = 0.0, []
    while now < until and (piece := scan.next(now)) is not None:
        seconds = each_s(piece.window.size)
        now += seconds
        if now <= until:
            give(scan, piece, 0.0001, seconds)
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
        ({"min_coverage": 0.9, "on_unscanned": "match"}, Truth.TRUE),
        ({"min_coverage": 0.9, "on_unscanned": "no_match"}, Truth.FALSE),
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


@pytest.mark.parametrize("on_unscanned", ["best_effort", "match", "no_match", "unknown"])
def test_a_rule_of_which_no_window_was_read_is_unknown(on_unscanned):
    """COV-3"""
    scan = scan_of(text_of(3), rule(on_unscanned=on_unscanned))
    while (piece := scan.next(0.0)) is not None:
        fail(scan, piece, AnswerError.UNAVAILABLE)
    assert truth(scan) is Truth.UNKNOWN
    assert reading_of(scan.rules[0], scan.found(0)).reason is AnswerError.UNAVAILABLE
    assert str(scan.found(0).coverage) == "none"


def test_a_window_that_could_not_be_read_makes_the_rule_unknown_instead_of_best_effort():
    """COV-1"""
    scan = scan_of(text_of(3))
    give(scan, scan.next(0.0), 0.01)
    fail(scan, scan.next(0.0), AnswerError.INVALID_INPUT)
    give(scan, scan.next(0.0), 0.01)
    assert str(scan.found(0).coverage) == "partial 2/3"
    assert truth(scan) is Truth.UNKNOWN


def test_a_failed_window_is_unread_and_the_others_judge():
    """COV-1"""
    scan = scan_of(text_of(3))
    give(scan, scan.next(0.0), 0.01)
    fail(scan, scan.next(0.0), AnswerError.DEADLINE_EXCEEDED)
    give(scan, scan.next(0.0), 0.01)
    assert truth(scan) is Truth.FALSE


def test_rereads_count_neither_as_read_nor_as_planned():
    """COV-2"""
    scan, _ = large(0.3)
    before = scan.found(0).coverage.planned
    give(scan, scan.next(0.0), 0.01)
    assert scan.found(0).coverage.planned == before
    assert scan.found(0).coverage.read == 3


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
        reading = reading_of(asked, scan.found(0))
        assert (low.truth(reading), high.truth(reading)) == (Truth.TRUE, expected)


def test_a_rule_whose_value_is_summed_reads_every_window() -> None:
    """SCAN-4, CFG-9: a projection has the greatest of its windows'"""
    scan = scan_of(text_of(10), rule(whole=True))
    read_all(scan, lambda piece: 0.99 if piece.window.start == 400 else 0.6)
    assert scan.found(0).values == (0.99,)
    assert scan.found(0).coverage.result == "full"


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


def test_windows_are_not_merged_beyond_what_a_call_may_take() -> None:
    """SCAN-9, BUD-3: a window that is late was read for nothing"""
    speed = known_speed(0.6, 0.002)
    scan = scan_of(text_of(30), rule(timeout_s=0.9), sizes=LARGE, speed=speed, deadline=8.0)
    read = paced(scan, lambda size: 0.6 + size / 500, 8.0)
    assert {piece.window.size for piece in read} == {100}


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


def test_what_is_decided_early_is_told() -> None:
    """COV-4: also where the other windows are answered later"""
    scan = scan_of(text_of(2))
    first, second = scan.next(0.0), scan.next(0.0)
    give(scan, first, 0.9)
    give(scan, second, 0.1)
    assert scan.found(0).coverage.decided


def test_windows_of_one_piece_are_asked_for_all_rules_that_are_near() -> None:
    """SCAN-3, SCAN-7: one call"""
    scan = scan_of("x" * 30_000, rule("jailbreak"), rule("harm"), sizes=LARGE)
    for _ in range(2):
        give(scan, scan.next(0.0), 0.0001)
    merged = scan.next(0.0)
    scan.answered(merged, {"jailbreak": NoulAnswer(0.3), "harm": NoulAnswer(0.06)})
    assert tuple(scan.next(0.0).questions) == ("jailbreak", "harm")


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
