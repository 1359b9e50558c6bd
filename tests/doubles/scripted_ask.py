"""An ``Ask`` that answers from a script and keeps the calls it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.asking.call import Call, Reply, Timings

Script = Mapping[str, Answer | float | str | Mapping[str, float]]
"""Question id -> an answer, or in short: P(yes) or an expected level; a choice's winner (0.9);
probabilities by option (the rest of a choice shared evenly; of a span: a span of that label)."""


def answer_for(question: Question, short: Answer | float | str | Mapping[str, float]) -> Answer:
    """The answer that ``short`` stands for; an unscripted form is a test's mistake."""
    if isinstance(short, str):
        short = {short: 0.9}
    keys = tuple(option.key for option in question.options)
    if isinstance(short, Mapping):
        if question.type is QuestionType.SPAN:
            return SpanAnswer(tuple(Span(k, 0, 1, "x", p) for k, p in short.items()))
        if question.type is QuestionType.SET:
            return SetAnswer(keys, tuple(short.get(k, 0.0) for k in keys))
        others = max(1, len(keys) - len(short))
        rest = (1 - sum(short.values())) / others
        return ChoiceAnswer(keys, tuple(short.get(k, rest) for k in keys))
    if isinstance(short, int | float):
        if question.type is QuestionType.SCORE:
            return level(question, float(short))
        return NoulAnswer(float(short))
    return short


def level(question: Question, expected: float) -> ScoreAnswer:
    """A score whose expected level is ``expected``: mass on the two levels around it."""
    n = len(question.options)
    low = min(int(expected), n - 2)
    probabilities = [0.0] * n
    probabilities[low + 1] = expected - low
    probabilities[low] = 1 - probabilities[low + 1]
    return ScoreAnswer(
        tuple(option.text or "" for option in question.options), tuple(probabilities)
    )


def unavailable(_: Question) -> Answer:
    return ErrorAnswer(AnswerError.UNAVAILABLE)


def calm(question: Question) -> Answer:
    """An answer that speaks for nothing: low probabilities, the lowest level, no winner."""
    match question.type:
        case QuestionType.CHOICE:
            return answer_for(question, {})
        case QuestionType.NOUL | QuestionType.SCORE:
            return answer_for(question, 0.0)
        case QuestionType.SET | QuestionType.SPAN:
            return answer_for(question, {})


@dataclass
class ScriptedAsk:
    """Answers every question by its id, and what the script lacks with ``otherwise``.

    ``takes_s``: how long a call to each deployment takes, on the event loop's clock. ``script``
    may be a function of a deployment's name. ``asked`` is set by the first call.
    """

    script: Script | Callable[[str], Script] = field(default_factory=dict)
    takes_s: Mapping[str, float] = field(default_factory=dict)
    otherwise: Callable[[Question], Answer] = unavailable
    calls: list[Call] = field(default_factory=list)
    cancelled: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        self.asked.set()
        seconds = self.takes_s.get(call.deployment, 0.0)
        if seconds:
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        script = self.script(call.deployment) if callable(self.script) else self.script
        answers = {
            name: {
                id: answer_for(question, script[id]) if id in script else self.otherwise(question)
                for id, question in entry.questions.items()
            }
            for name, entry in call.entries.items()
        }
        return Reply(answers, elapsed_ms=seconds * 1000, timings=Timings(0.1, 0.2, 0.3))
