"""Whole scans with merges, rereads and failures: SCAN-1, SCAN-6 to SCAN-9, COV-2."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from models.questions.types import Answer, AnswerError, ErrorAnswer, NoulAnswer
from serve_app.config.sizes import Sizes
from serve_app.scan.scan import Piece, Scan
from serve_app.scan.speed import Speed
from serve_app.scan.text import Text, size_of
from serve_app.scan.windows import MOST, Window, pieces
from tests.doubles.scans import SIZES, known_speed, rule, scan_of

RULES = "jailbreak", "harm"
FAR, WIDE, NEAR = 0.0001, 0.08, 0.4
"""Below a threshold of one half, and how a larger window is read again for it."""


@dataclass(frozen=True)
class Case:
    text: str
    sizes: Sizes
    speed: Speed
    deadline: float
    parallel: int
    failing: float
    seed: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Texts of mostly up to 40 windows, some of more than 256; a call takes a second or so."""
    window = draw(st.integers(24, 60))
    overlap = draw(st.integers(0, (window - 1) // 2 - 4))
    pattern = "".join(draw(st.lists(st.sampled_from("aé漢😀"), min_size=1, max_size=9)))
    windows = 270 if draw(st.integers(0, 29)) == 0 else draw(st.integers(2, 40))
    largest = draw(st.integers(1, 6)) * window
    parallel = draw(st.integers(1, 5))
    size = windows * (window - overlap)
    return Case(
        text=pattern * (size // len(pattern.encode()) + 1) + "x" * window,
        sizes=replace(SIZES, window=window, overlap=overlap, largest=largest),
        speed=known_speed(1.0, 0.001) if draw(st.booleans()) else Speed(),
        deadline=windows / parallel * draw(st.sampled_from([0.4, 0.7, 2.0])),
        parallel=parallel,
        failing=draw(st.sampled_from([0.0, 0.2])),
        seed=draw(st.integers(0, 10_000)),
    )


@dataclass
class Told:
    """By rule: what it was asked about and what it read, with the value."""

    asked: list[Piece]
    read: list[tuple[Piece, float]]


def was_read(case: Case, piece: Piece, by_rule: Told) -> bool:
    """Whether a part of a larger window stands in what was read for the rule at its size."""
    if piece.kind == "planned" or piece.window.end == size_of(case.text):
        return False
    size = case.sizes.window
    return any(p.window.size <= size and p.window.holds(piece.window) for p, _ in by_rule.read)


def told(case: Case, scan: Scan) -> list[Told]:
    """Reads to the end, windows out of their order; which are near or fail is drawn."""
    rng = Random(case.seed)
    by_rule = [Told([], []) for _ in RULES]
    out: list[Piece] = []
    now = 0.0
    while True:
        while len(out) < case.parallel and (piece := scan.next(now)) is not None:
            for index in piece.rules:
                assert not was_read(case, piece, by_rule[index])
                by_rule[index].asked.append(piece)
            out.append(piece)
        if not out:
            return by_rule
        now += 1.05 / case.parallel
        piece = out.pop(rng.randrange(len(out)))
        answers: dict[str, Answer] = {}
        for index in piece.rules:
            if rng.random() < case.failing:
                answers[RULES[index]] = ErrorAnswer(AnswerError.UNAVAILABLE)
                continue
            value = rng.choice((FAR, FAR, WIDE, NEAR))
            by_rule[index].read.append((piece, value))
            answers[RULES[index]] = NoulAnswer(value)
        scan.answered(piece, answers, seconds=1.0 + 0.001 * piece.window.size)


def covers(windows: list[Window], whole: Window) -> bool:
    at = whole.start
    for window in sorted(windows, key=lambda window: window.start):
        if window.start > at:
            return False
        at = max(at, window.end)
    return at >= whole.end


def missing(case: Case, by_rule: Told) -> bool:
    """Whether a part that the rule needed again is in no window of its size that was read for it,
    or the tail's half was not."""
    text, size = Text(case.text), case.sizes.window
    read = [piece.window for piece, _ in by_rule.read if piece.window.size <= size]
    for piece, value in by_rule.read:
        if piece.kind == "reread" or value == FAR:
            continue
        if piece.window.size > size:
            parts = pieces(text, piece.window, size, case.sizes.overlap)
            if any(not any(other.holds(part) for other in read) for part in parts):
                return True
        elif piece.window.end == text.size:
            half = Window(text.up(text.size - size // 2), text.size)
            if half not in read:
                return True
    return False


@settings(max_examples=1_000)
@given(cases())
def test_no_window_is_read_twice_for_a_rule_and_all_of_the_input_is_read(case: Case) -> None:
    """SCAN-1, SCAN-6 to SCAN-9: whatever is merged, read again or fails"""
    scan = scan_of(
        case.text,
        *map(rule, RULES),
        sizes=case.sizes,
        speed=case.speed,
        deadline=case.deadline,
        point=Random(case.seed).random(),
    )
    by_rule = told(case, scan)
    whole = Window(0, size_of(case.text))
    for index, of_rule in enumerate(by_rule):
        found = scan.found(index)
        asked = Counter(piece.window for piece in of_rule.asked)
        assert max(asked.values()) == 1
        planned = [piece.window for piece in of_rule.asked if piece.kind == "planned"]
        assert len(planned) == min(MOST, found.coverage.planned)
        if found.coverage.planned <= MOST:
            assert covers(planned, whole)
        assert all(window.size <= case.sizes.largest for window in planned)
        again = [piece.window for piece in of_rule.asked if piece.kind == "reread"]
        assert all(window.size <= case.sizes.window for window in again)
        assert all(any(other.holds(window) for other in planned) for window in again)
        read = [piece for piece, _ in of_rule.read if piece.kind == "planned"]
        assert found.coverage.read == len(read)
        assert found.diluted is missing(case, of_rule)
