"""All fronts must answer alike before they are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from typing import Final, TypeAlias

import orjson

from benchmarks.harness.bodies import Body, render
from benchmarks.harness.contest import Contestant, Front
from benchmarks.harness.prompts import Prompts
from models.questions.types import JsonValue

TOLERANCE: Final = 1e-3
NUMBERS: Final = range(2**30 - 5, 2**30)
"""Prompts that no round reaches."""

Answers: TypeAlias = Sequence[Mapping[str, JsonValue]]


def disagreement(contestants: Sequence[Contestant], seed: int, questions: JsonValue) -> float:
    """The greatest difference of a number between two fronts that are asked the same.

    A preview counts with what it says of its rules.
    """
    fronts = [c.front for c in contestants if c.front is not None]
    given = {f: _responses(f, seed, questions) for f in fronts}
    answers = [[r["answers"] for r in given[f]] for f in fronts if f.body is Body.SYSTEMONE]
    gaps = [greatest_difference(answers[0], other) for other in answers[1:]]
    previews = [given[f] for f in fronts if f.body is Body.CHAT]
    if answers:
        gaps += [greatest_gap(found, answers[0]) for found in previews]
    return max(gaps, default=0.0)


def _responses(front: Front, seed: int, questions: JsonValue) -> list[JsonValue]:
    prompts = Prompts(seed)
    bodies = [render(front.body, prompts[number], questions) for number in NUMBERS]
    return [_post(front.port, front.path, body) for body in bodies]


def _post(port: int, path: str, body: bytes) -> JsonValue:
    """The JSON of a 200; RuntimeError for another status."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise RuntimeError(f"{path} answers {response.status}: {content[:200]!r}")
    return orjson.loads(content)


def greatest_difference(first: Answers, second: Answers) -> float:
    """Between the numbers of two fronts' answers; infinity where they differ in anything else."""
    return max((_difference(a, b) for a, b in zip(first, second, strict=True)), default=0.0)


def greatest_gap(previews: Sequence[JsonValue], answers: Answers) -> float:
    """Between the nouls of previews' rules and of ``answers`` to the same prompts.

    Infinity where a preview asked another number of questions, or in more than one call.
    """
    return max(map(_gap, previews, answers), default=0.0)


def _gap(preview: JsonValue, answers: Mapping[str, JsonValue]) -> float:
    asked = [len(ids) for call in preview["calls"] for ids in call["questions"].values()]
    if asked != [len(answers)]:
        return float("inf")
    nouls = {id: answer["noul"] for id, answer in answers.items() if answer["type"] == "noul"}
    names = {(rule["type"], rule["name"]): rule["value"] for rule in preview["rules"]}
    return max(
        (
            abs(value - nouls[id])
            for (kind, name), value in names.items()
            for id in (kind, name)
            if id in nouls and value is not None
        ),
        default=float("inf"),
    )


def _difference(first: JsonValue, second: JsonValue) -> float:
    if isinstance(first, dict) and isinstance(second, dict):
        if first.keys() != second.keys():
            return float("inf")
        # The choice itself is left out: it may fall either way between equal probabilities.
        return max((_difference(first[k], second[k]) for k in first if k != "choice"), default=0.0)
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second)
    return 0.0 if first == second else float("inf")
