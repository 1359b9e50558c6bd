"""Probabilities of a remote answer, and the answers that are distributions: choice and score.

A reader gives ``None`` for what is malformed, whatever it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from models.questions.render import render
from models.questions.types import ChoiceAnswer, JsonValue, Question, ScoreAnswer

HALF_A_HUNDREDTH: Final = 0.005
"""What rounding to two decimals moves a probability. No server is to round more coarsely
(jevcompat's ``EPS_ROUND``)."""

SUM_BOUNDS: Final = (0.01, 0.05)
"""Least and most that a distribution of rounded probabilities may be from 1 in sum."""

SCORE_TOLERANCE: Final = 0.02
"""How far a score may be from its unrounded probabilities' (jevcompat's ``score.expectation``)."""

SLACK: Final = 1e-9
"""Of float64 sums beside a bound."""

_FLOAT32: Final = 1e-7
"""A number this near to its rounded self is rounded: 0.8999999761581421 is a float32's 0.9."""


def probability(value: JsonValue) -> float | None:
    """A JSON number from 0 to 1; a boolean is no number, and NaN in no range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return None
    return float(value)


def choice(question: Question, raw: Mapping[str, JsonValue]) -> ChoiceAnswer | None:
    """``choice`` must be the most likely option, or as likely as rounding can tell."""
    keys = tuple(option.key for option in question.options)
    given = _distribution(raw.get("probabilities"), keys)
    chosen = raw.get("choice")
    if given is None or not isinstance(chosen, str) or chosen not in keys:
        return None
    place = keys.index(chosen)
    if max(given) - given[place] > HALF_A_HUNDREDTH + SLACK:
        return None
    told = given.index(max(given)) == place
    return ChoiceAnswer(keys, _scaled(given), None if told else place)


def score(question: Question, raw: Mapping[str, JsonValue]) -> ScoreAnswer | None:
    """``legend`` must give the levels back, and ``score`` be what the probabilities say."""
    levels = tuple(option.text or "" for option in question.options)
    numbers = [str(i) for i in range(len(levels))]
    given = _distribution(raw.get("probabilities"), numbers)
    if given is None or not _names(raw.get("legend"), levels):
        return None
    value = raw.get("score")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    n = len(levels)
    if not -1 <= value <= n:  # before arithmetic: an integer may be beyond every float
        return None
    expected = sum(i * p for i, p in enumerate(given))
    bound = SCORE_TOLERANCE + _rounding(given) * (1 + n * (n - 1) / 2)
    if abs(value - expected) > bound + SLACK:
        return None
    return ScoreAnswer(levels, _scaled(given))


def _distribution(raw: JsonValue, keys: Sequence[str]) -> list[float] | None:
    """The probabilities in the order of ``keys``, which must be all, byte for byte."""
    if not isinstance(raw, dict) or not keys or len(raw) != len(keys):
        return None
    given = []
    for key in keys:
        value = probability(raw.get(key))
        if value is None:
            return None
        given.append(value)
    least, most = SUM_BOUNDS
    bound = min(most, max(least, HALF_A_HUNDREDTH * len(keys)))
    return given if abs(sum(given) - 1) <= bound + SLACK else None


def _scaled(given: Sequence[float]) -> tuple[float, ...]:
    total = sum(given)
    return tuple(p / total for p in given)


def _rounding(given: Sequence[float]) -> float:
    """Half a unit of the last place of probabilities rounded to 2 to 6 decimals, else 0."""
    for decimals in range(2, 7):
        if all(abs(p - round(p, decimals)) < _FLOAT32 for p in given):
            return 0.5 * 10.0**-decimals
    return 0.0


def _names(legend: JsonValue, levels: Sequence[str]) -> bool:
    if not isinstance(legend, dict) or len(legend) != len(levels):
        return False
    return all(_reads(legend.get(str(i)), level) for i, level in enumerate(levels))


def _reads(given: JsonValue, level: str) -> bool:
    """Whether ``given`` is the level's text, or structure that renders to it."""
    if isinstance(given, (dict, list)):
        try:
            return render(given) == level
        except RecursionError:
            return False
    return isinstance(given, str) and given == level
