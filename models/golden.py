"""A question of every type with its recorded answer: a replica that is ready gives it (SRV-11)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from models.engine import Engine, Row, answer
from models.questions.parse import parse_question
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    Question,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)


class GoldenMismatchError(RuntimeError):
    """An engine does not give the recorded answers; the message says which and by how much."""


@dataclass(frozen=True, slots=True)
class Golden:
    """``probabilities``: those of the answer, in its order. ``tolerance``: how far each of them
    may lie from the record; number formats and machines differ by less. ``spans``: label, start
    and end of those of a span answer."""

    state: str
    question: Question
    probabilities: tuple[float, ...]
    tolerance: float
    spans: tuple[tuple[str, int, int], ...] = ()


def golden_questions(family: str) -> list[Golden]:
    """The records that ship with the engines of ``family``."""
    document = json.loads(files(f"models.{family}").joinpath("golden.json").read_bytes())
    return [
        Golden(
            entry["state"],
            parse_question(entry["question"], client=False),
            tuple(entry["probabilities"]),
            document["tolerance"],
            tuple((label, start, end) for label, start, end in entry.get("spans", ())),
        )
        for entry in document["golden"]
    ]


def check_golden(engine: Engine) -> None:
    """Raises ``GoldenMismatchError`` unless ``engine`` gives every recorded answer of a type that
    its card lists, and there is one for each of them."""
    records = [
        g
        for g in golden_questions(engine.card.family)
        if g.question.type in engine.card.question_types
    ]
    wrong = [
        f"no golden question of type {kind}"
        for kind in sorted(engine.card.question_types - {g.question.type for g in records})
    ]
    given = answer(engine, [Row(g.state, (g.question,)) for g in records])
    for golden, (got,) in zip(records, given, strict=True):
        difference = _difference(golden, got)
        if difference is not None:
            wrong.append(f"{golden.question.type}: {difference}")
    if wrong:
        raise GoldenMismatchError(f"{engine.card.name}: {'; '.join(wrong)}")


def probabilities(given: Answer) -> tuple[float, ...] | None:
    """The probabilities of an answer in its order, of spans each one's; ``None`` of an error."""
    if isinstance(given, NoulAnswer):
        return (given.probability,)
    if isinstance(given, (ChoiceAnswer, ScoreAnswer, SetAnswer)):
        return given.probabilities
    if isinstance(given, SpanAnswer):
        return tuple(span.probability for span in given.spans)
    return None


def places(given: Answer) -> tuple[tuple[str, int, int], ...]:
    """Label, start and end of the spans of an answer."""
    spans = given.spans if isinstance(given, SpanAnswer) else ()
    return tuple((span.label, span.start, span.end) for span in spans)


def _difference(golden: Golden, got: Answer) -> str | None:
    found = probabilities(got)
    if found is None:
        return f"no answer but {got}"
    if len(found) != len(golden.probabilities):
        return f"{len(found)} probabilities, {len(golden.probabilities)} recorded"
    if places(got) != golden.spans:
        return f"spans {places(got)}, recorded {golden.spans}"
    if all(
        abs(a - b) <= golden.tolerance for a, b in zip(found, golden.probabilities, strict=True)
    ):
        return None
    return f"{_rounded(found)}, recorded {_rounded(golden.probabilities)} ± {golden.tolerance}"


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]
