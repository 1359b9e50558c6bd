"""Right answers of a remote API to a question of each type, and how they are read."""

from __future__ import annotations

import math
from typing import Any

from models.questions.types import (
    Answer,
    Option,
    Question,
    QuestionType,
)
from serve_app.asking.call import Entry
from serve_app.asking.remote.answers import read_answers

TEXT = "Ann is in Ulm 🙂 now"
LABELS = (Option("GPE"), Option("PERSON"))
NOUL = Question(QuestionType.NOUL, "Is it?")
CHOICE = Question(QuestionType.CHOICE, "Which?", (Option("a"), Option("B"), Option("c")))
SCORE = Question(QuestionType.SCORE, "How?", (Option("0", "x"), Option("1", "y"), Option("2", "z")))
SET = Question(QuestionType.SET, "Which?", LABELS)
SPAN = Question(QuestionType.SPAN, "Where?", LABELS)

A_NOUL = {"type": "noul", "noul": 0.5}
A_CHOICE = {
    "type": "choice",
    "choice": "B",
    "probabilities": {"a": 0.25, "B": 0.5, "c": 0.25},
    "confidence": 0.25,
}
A_SCORE = {
    "type": "score",
    "score": 1.25,
    "legend": {"0": "x", "1": "y", "2": "z"},
    "probabilities": {"0": 0.25, "1": 0.25, "2": 0.5},
    "confidence": 0.1,
}
A_SPAN = {"label": "GPE", "start": 10, "end": 13, "text": "Ulm", "probability": 0.75}
NOT_PROBABILITIES = [True, False, "0.5", None, -0.01, 1.01, math.nan, math.inf, 10**400, [], {}]


def read(question: Question, body: Any, state: Any = TEXT) -> Answer:
    entries = {"1": Entry(state, {"q": question})}
    return read_answers(entries, body, batch=False).answers["1"]["q"]


def answer(question: Question, raw: Any, **beside: Any) -> Answer:
    return read(question, {"answers": {"q": raw}, **beside})


def without(raw: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key != name}
