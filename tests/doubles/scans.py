"""Scans of texts of 100-byte windows, read by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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


def places(pieces: list[Piece]) -> list[int]:
    return [piece.window.start for piece in pieces]


def truth(scan: Scan, index: int = 0) -> Truth:
    found = scan.found(index)
    return scan.rules[index].criteria[0].truth(final_reading(scan.rules[index], found))


def large(value: float, threshold: float = THRESHOLD, **settings) -> tuple[Scan, list[Piece]]:
    """A scan of 300 windows' text in larger ones, of which the first answers ``value``."""
    scan = scan_of("x" * 30_000, rule(threshold=threshold), sizes=LARGE, **settings)
    first = scan.next(0.0), scan.next(0.0), scan.next(0.0)
    for piece in first[:2]:
        give(scan, piece, 0.0001)
    give(scan, first[2], value)
    return scan, list(first)
