"""What every front does around the engine: the product's own reading and writing of System One.

So the fronts differ in nothing but how a call reaches the engine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from models.engine import Engine, Row
from models.questions.standard import SystemOneBody, response
from models.questions.types import Answer

MEDIA_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Answered:
    """``answers`` and ``tokens`` of each row of a call."""

    answers: tuple[tuple[Answer, ...], ...]
    tokens: tuple[int, ...]


def answer_calls(engine: Engine, calls: Sequence[SystemOneBody]) -> list[Answered]:
    """Answers several calls together: tokenised here, a forward for each length bucket."""
    prepared = [
        engine.prepare(Row(state, questions)) for call in calls for state, questions in call.asked()
    ]
    buckets: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(prepared):
        buckets[row.bucket].append(place)
    answers: list[tuple[Answer, ...]] = [()] * len(prepared)
    for places in buckets.values():
        forward = engine.forward([prepared[place] for place in places])
        for place, row_answers in zip(places, forward, strict=True):
            answers[place] = row_answers
    results, first = [], 0
    for call in calls:
        end = first + len(call.asked())
        tokens = tuple(row.tokens for row in prepared[first:end])
        results.append(Answered(tuple(answers[first:end]), tokens))
        first = end
    return results


def write(engine: Engine, call: SystemOneBody, answered: Answered) -> bytes:
    """The response body."""
    card = engine.card
    return orjson.dumps(
        response(call, card.name, answered.answers, answered.tokens, thresholds=card.thresholds)
    )
