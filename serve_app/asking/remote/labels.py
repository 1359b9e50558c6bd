"""Answers of several probabilities: the labels of a set, the spans of a text (S1-11).

A reader gives ``None`` for what is malformed, whatever it was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from models.questions.types import JsonValue, Question, SetAnswer, Span, SpanAnswer
from models.questions.wire import SELECTED
from serve_app.asking.remote.distributions import HALF_A_HUNDREDTH, SLACK, probability

Noul = Callable[[JsonValue], float | None]
"""Reads the probability of an answer that must be a noul."""


def read_set(
    question: Question,
    given: JsonValue,
    nouls: Mapping[str, JsonValue],
    noul: Noul,
) -> SetAnswer | None:
    """``given``: of ``sets``, ``None`` if absent. ``nouls``: label -> answer, where there is one.

    Either tells all labels alone; where both tell one they must agree, save for rounding.
    """
    keys = tuple(option.key for option in question.options)
    told = {label: noul(raw) for label, raw in nouls.items()}
    if given is None:
        listed = told
    else:
        probabilities = given.get("probabilities") if isinstance(given, dict) else None
        if not isinstance(probabilities, dict):
            return None
        listed = {label: probability(value) for label, value in probabilities.items()}
    if listed.keys() != set(keys):
        return None
    values = []
    for key in keys:
        value, other = listed[key], told.get(key, listed[key])
        if value is None or other is None or abs(value - other) > HALF_A_HUNDREDTH + SLACK:
            return None
        values.append(value)
    return SetAnswer(keys, tuple(values))


def read_spans(
    question: Question, given: JsonValue, present: float, text: str
) -> SpanAnswer | None:
    """``given``: of ``spans``. ``present``: P(there is one). ``text``: the state's, rendered.

    A span is refused where its words do not stand at its place: offsets that count bytes or
    UTF-16 units would mask something else. So are spans of which none is likely beside a likely
    ``present``: personal data that was seen and not placed is not absent.
    """
    if not isinstance(given, list):
        return None
    labels = {option.key for option in question.options}
    spans = []
    for raw in given:
        span = _span(raw, text)
        if span is None or span.label not in labels:
            return None
        spans.append(span)
    answer = SpanAnswer(tuple(spans))
    return None if present >= SELECTED > answer.probability else answer


def _span(raw: JsonValue, text: str) -> Span | None:
    if not isinstance(raw, dict):
        return None
    label, start, end = raw.get("label"), raw.get("start"), raw.get("end")
    value = probability(raw.get("probability"))
    if not isinstance(label, str) or type(start) is not int or type(end) is not int:
        return None
    if value is None or not 0 <= start < end <= len(text):
        return None
    words = text[start:end]
    return Span(label, start, end, words, value) if raw.get("text") == words else None
