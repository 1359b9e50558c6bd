"""Temperatures and thresholds from texts that were not trained on (SRV-19, S1-14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.embedded.calibration import name_of
from models.embedded.train.examples import Asked, Example
from models.engine import Engine, Row, answer
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)

ENOUGH: Final = 40
"""Answers from which a preset has a temperature of its own."""

PULL: Final = 4.0
"""How strongly a preset's temperature is drawn to its type's, in answers' worth of log loss."""

FALSE_POSITIVES: Final = MappingProxyType({"jailbreak": 0.08, "harm": 0.08})
"""Share of near misses that a guard's threshold lets match. The better a guard tells them apart,
the less is to be gained by letting more of them match."""

_GRID: Final = np.exp(np.linspace(np.log(0.4), np.log(5.0), 70))
_LEAST: Final = 1e-7


@dataclass
class Told:
    """Log odds of a claim, or log probabilities of options, with what was true: by group."""

    odds: list[tuple[float, bool]] = field(default_factory=list)
    options: list[tuple[NDArray[np.float64], int]] = field(default_factory=list)

    def loss(self, temperature: float) -> float:
        total = 0.0
        if self.odds:
            odds = np.array([z for z, _ in self.odds]) / temperature
            truth = np.array([1.0 if t else -1.0 for _, t in self.odds])
            total += float(np.logaddexp(0, -truth * odds).sum())
        for logs, truth_of in self.options:
            scaled = logs / temperature
            total += float(np.logaddexp.reduce(scaled) - scaled[truth_of])
        return total

    def __len__(self) -> int:
        return len(self.odds) + len(self.options)


def answered(engine: Engine, examples: Sequence[Example]) -> list[tuple[Asked, Answer]]:
    """Every question of ``examples`` with the engine's answer."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].state))
    found: list[tuple[Asked, Answer]] = []
    for start in range(0, len(order), 32):
        part = [examples[i] for i in order[start : start + 32]]
        rows = [Row(x.state, tuple(asked.question for asked in x.asked)) for x in part]
        for example, answers in zip(part, answer(engine, rows), strict=True):
            found += zip(example.asked, answers, strict=True)
    return found


def temperatures(given: Sequence[tuple[Asked, Answer]]) -> dict[str, float]:
    """By type and by preset and type, from answers at temperature 1. Spans have none here: see
    ``span_temperature``."""
    by_type: dict[str, Told] = defaultdict(Told)
    by_preset: dict[str, Told] = defaultdict(Told)
    for asked, of in given:
        name = name_of(asked.question)
        for told in (by_type[asked.question.type], *([by_preset[name]] if name else ())):
            _tell(told, asked, of)
    found: dict[str, float] = {}
    for kind, told in by_type.items():
        if len(told):
            found[str(kind)] = _best(lambda t, told=told: told.loss(t))  # type: ignore[misc]
    for name, told in by_preset.items():
        if len(told) >= ENOUGH:
            middle = found[name.rsplit(".", 1)[1]]

            def loss(t: float, told: Told = told, middle: float = middle) -> float:
                return told.loss(t) + PULL * float(np.log(t / middle)) ** 2

            found[name] = _best(loss)
    return {name: round(value, 3) for name, value in sorted(found.items())}


def span_temperature(
    answers_at: Callable[[float], Sequence[tuple[Asked, Answer]]],
    grid: Sequence[float] = (0.7, 1.0, 1.4, 2.0, 2.8),
) -> float:
    """The temperature at which a span's probability is nearest to how often it is exact (Brier)."""

    def brier(temperature: float) -> float:
        scores = []
        for asked, of in answers_at(temperature):
            if isinstance(of, SpanAnswer) and isinstance(asked.truth, tuple):
                truth = set(asked.truth)
                exact = [(s.label, s.start, s.end) in truth for s in of.spans]
                scores += [(s.probability - e) ** 2 for s, e in zip(of.spans, exact, strict=True)]
        return float(np.mean(scores)) if scores else 1.0

    return min(grid, key=brier)


def threshold(
    positive: Sequence[float], negative: Sequence[float], false_positives: float
) -> float:
    """The lowest probability that at most ``false_positives`` of ``negative`` reach: midway to the
    next one, in millionths. ``ValueError`` where there is none to choose it on."""
    if len(negative) == 0:
        raise ValueError("a threshold is chosen on texts that must not match")
    ordered = np.sort(np.asarray(negative))
    below = float(ordered[len(ordered) - int(false_positives * len(ordered)) - 1])
    above = min((p for p in (*positive, *negative) if p > below), default=1.0)
    return max(round((below + above) / 2, 6), (floor(below * 1e6) + 1) / 1e6)


def _tell(told: Told, asked: Asked, of: Answer) -> None:
    truth = asked.truth
    match of:
        case NoulAnswer(probability):
            told.odds.append((_odds(probability), bool(truth)))
        case SetAnswer(_, probabilities) if isinstance(truth, frozenset):
            told.odds += [(_odds(p), i in truth) for i, p in enumerate(probabilities)]
        case ChoiceAnswer(_, probabilities) | ScoreAnswer(_, probabilities):
            logs = np.log(np.maximum(np.array(probabilities), _LEAST))
            told.options.append((logs, int(truth)))  # type: ignore[arg-type]
        case _:
            pass


def _odds(probability: float) -> float:
    p = min(max(probability, _LEAST), 1 - _LEAST)
    return float(np.log(p) - np.log1p(-p))


def _best(loss: Callable[[float], float]) -> float:
    return float(min(_GRID, key=loss))


def by_truth(given: Sequence[tuple[Asked, Answer]], name: str) -> Mapping[bool, list[float]]:
    """P(yes) of the nouls called ``name``, by truth."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for asked, of in given:
        if asked.name == name and isinstance(of, NoulAnswer):
            found[bool(asked.truth)].append(of.probability)
    return found
