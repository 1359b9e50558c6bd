"""Requests with long inputs: who answers, the recipe, the text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.questions.types import (
    Answer,
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.asking.call import Call, Reply, Timings
from serve_app.outcome import Outcome
from tests.doubles.recipes import ROUTED, compiled, deployments
from tests.doubles.scripted_ask import calm

WINDOW = 1_024

SMALL = {"routing_view": {"max_tokens": 256}, "scan_window": {"tokens": 256, "overlap": 16}}
"""Views and windows of 1,024 bytes."""

BLOCKED: dict[str, Any] = {
    "name": "blocked",
    "priority": 10,
    "rules": {"conditions": [{"type": "jailbreak", "name": "attack"}]},
    "plugins": [{"type": "fast_response", "message": "No."}],
}

PRIVATE: dict[str, Any] = {
    "name": "private",
    "priority": 5,
    "rules": {
        "conditions": [{"type": "pii", "name": "data"}, {"type": "domain", "name": "topic"}],
        "operator": "OR",
    },
    **ROUTED,
}

REST: dict[str, Any] = {"name": "rest", "priority": 1, "rules": {}, **ROUTED}

SIGNALS: dict[str, Any] = {
    "domains": [{"name": "topic", "labels": ["law"]}],
    "jailbreak": [{"name": "attack"}],
    "pii": [{"name": "data"}],
}


@dataclass
class ReadingAsk:
    """Answers by what it reads: a guard is sure of a text with its word, ``ATTACK`` or ``DATA``,
    and half sure of ``MAYBE``.

    ``sets``: label -> its word.
    ``takes_s``: how long a call takes, on the event loop's clock; ``fails``: which windows fail.
    """

    sets: Mapping[str, str] = field(default_factory=dict)
    takes_s: Callable[[Call], float] = lambda call: 0.0
    fails: Callable[[str], AnswerError | None] = lambda text: None
    calls: list[Call] = field(default_factory=list)
    out: int = 0
    most_out: int = 0
    cancelled: int = 0

    async def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        seconds = self.takes_s(call)
        try:
            if seconds:
                await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.out -= 1
        answers = {
            name: {id: self._answer(id, q, str(entry.state)) for id, q in entry.questions.items()}
            for name, entry in call.entries.items()
        }
        return Reply(answers, elapsed_ms=seconds * 1000, timings=Timings(0, 0, 1))

    def _answer(self, id: str, question: Question, text: str) -> Answer:
        error = self.fails(text)
        if error is not None:
            return ErrorAnswer(error)
        if id == "preset:jailbreak":
            return NoulAnswer(0.99 if "ATTACK" in text else 0.6 if "MAYBE" in text else 0.001)
        if question.type is QuestionType.SET:
            keys = tuple(option.key for option in question.options)
            return SetAnswer(
                keys, tuple(0.9 * (self.sets.get(k, " ") in text and k in self.sets) for k in keys)
            )
        if id == "preset:pii" and "DATA" in text:
            at = text.index("DATA")
            label = question.options[0].key
            return SpanAnswer((Span(label, at, at + 4, "DATA", 0.9),))
        return calm(question)

    @property
    def windows(self) -> list[str]:
        """The texts of the calls that ask guards alone."""
        return [
            entry.state["request"]
            for call in self.calls
            for entry in call.entries.values()
            if "preset:domain" not in entry.questions
        ]


def recipe(*decisions: dict[str, Any], signals: dict[str, Any] = SIGNALS, **settings: Any) -> Any:
    catalog = deployments("primary", **{**SMALL, **settings})
    return compiled(
        {"signals": signals, "decisions": list(decisions or (BLOCKED, PRIVATE, REST))},
        catalog=catalog,
    )


def coverage(outcome: Outcome) -> dict[str, str]:
    return {rule.type: str(rule.coverage) for rule in outcome.rules if rule.coverage is not None}


def text_of(windows: int, **words: int) -> str:
    """So many windows of harmless text, with words at bytes of it."""
    text = "harmless words and " * (windows * WINDOW // 19)
    for word, at in words.items():
        text = text[:at] + word + text[at + len(word) :]
    return text
