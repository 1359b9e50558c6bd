"""Scans of texts of 100-byte windows, read by hand."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf

from models.questions.presets import preset_question
from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer, QuestionType
from serve_app.config.sizes import Sizes
from serve_app.outcome import Truth
from serve_app.reading import Bounds, Criterion
from serve_app.scan.coverage import final_reading
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


@dataclass
class Driven:
    """What a scan sent, in order, and what of it was answered in time; when it was done."""

    sent: list[Piece] = field(default_factory=list)
    read: list[Piece] = field(default_factory=list)
    ended: float = 0.0


def drive(
    scan: Scan,
    seconds: Callable[[int], float] = lambda size: 1.0,
    answers: Callable[[Piece], float | AnswerError] = lambda piece: 0.0001,
    *,
    parallel: int = 1,
    until: float = inf,
) -> Driven:
    """Reads as a request does: so many windows at once, each as long as its ``seconds`` by bytes,
    and what is not answered ``until`` then is given up."""
    driven, number, now = Driven(), count(), 0.0
    out: list[tuple[float, int, Piece, float]] = []
    while True:
        while len(out) < parallel and (piece := scan.next(now)) is not None:
            driven.sent.append(piece)
            took = seconds(piece.window.size)
            heapq.heappush(out, (now + took, next(number), piece, took))
        if not out or out[0][0] > until + 1e-6:
            return driven
        now, _, piece, took = heapq.heappop(out)
        driven.ended = now
        answer = answers(piece)
        if isinstance(answer, AnswerError):
            fail(scan, piece, answer)
        else:
            driven.read.append(piece)
            give(scan, piece, answer, took)


def places(pieces: list[Piece]) -> list[int]:
    return [piece.window.start for piece in pieces]


def truth(scan: Scan, index: int = 0) -> Truth:
    found = scan.found(index)
    return scan.rules[index].criteria[0].truth(final_reading(scan.rules[index], found))


def known_speed(fixed: float, per_byte: float) -> Speed:
    """Of a deployment that has been asked about states of some sizes."""
    speed = Speed()
    for size in (50, 100, 200, 400) * 3:
        speed.measured(size, fixed + per_byte * size)
    return speed


def large(value: float, threshold: float = THRESHOLD, **settings) -> tuple[Scan, list[Piece]]:
    """A scan of 300 windows' text in larger ones, of which the first answers ``value``."""
    scan = scan_of("x" * 30_000, rule(threshold=threshold), sizes=LARGE, **settings)
    first = scan.next(0.0), scan.next(0.0), scan.next(0.0)
    for piece in first[:2]:
        give(scan, piece, 0.0001)
    give(scan, first[2], value)
    return scan, list(first)
