"""Labelled questions put to a deployment: SRV-19, S1-10, MRG-5."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from models.evaluation.judged import Judged
from models.evaluation.truth import Example, read_examples
from models.questions.types import Answer, AnswerError, ErrorAnswer, NoulAnswer
from serve_app.asking.call import Ask, Call, Reply
from serve_app.evaluation.asking import MOST_CHARACTERS, ask_all, calls

STATES = [f"state {i}" for i in range(10)]


def examples(states: list[str]) -> tuple[Example, ...]:
    questions = {"q": {"type": "noul", "instructions": "Is it?", "label": True}}
    return read_examples(json.dumps({"state": s, "questions": questions}) for s in states)


def replied(call: Call, answer: Answer | None = None) -> Reply:
    """Of an example the number of its state, as a probability."""
    answers: dict[str, Mapping[str, Answer]] = {
        name: {
            id: answer or NoulAnswer(int(str(entry.state).split()[1]) / 10)
            for id in entry.questions
        }
        for name, entry in call.entries.items()
    }
    return Reply(answers)


class Asked:
    """Counts calls, and those that are open at a time; later ones answer sooner."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.open = self.most = 0

    async def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        self.open += 1
        self.most = max(self.most, self.open)
        for _ in range(20 - len(self.calls)):
            await asyncio.sleep(0)
        self.open -= 1
        return replied(call)


async def asked(ask: Ask, states: list[str] = STATES, **options: object) -> list[Judged]:
    return await ask_all(
        examples(states),
        "far",
        ask,
        lambda: 0.0,
        thresholds={},
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("entries", "concurrency"), [(1, 1), (1, 4), (4, 1), (3, 2), (100, 8)])
async def test_each_example_gets_its_own_answer_in_order(entries: int, concurrency: int) -> None:
    ask = Asked()
    judged = await asked(ask, entries=entries, concurrency=concurrency)
    assert [one.answer for one in judged] == [NoulAnswer(i / 10) for i in range(10)]
    assert max(len(call.entries) for call in ask.calls) == min(entries, 10)
    assert len(ask.calls) == -(-10 // entries)
    assert ask.most == min(concurrency, len(ask.calls))


def test_long_states_travel_in_smaller_calls() -> None:
    """Memory of a forward is bounded; a state of any length is asked."""
    half = "x" * (MOST_CHARACTERS // 2)
    together = calls(examples([half, half, "x", half * 3, "x"]), 16)
    assert [[example.line for example in call] for call in together] == [[1, 2], [3], [4], [5]]


async def test_a_busy_model_is_asked_again() -> None:
    pauses: list[float] = []
    answers = [ErrorAnswer(AnswerError.OVERLOADED), ErrorAnswer(AnswerError.NOT_READY), None]

    async def ask(call: Call) -> Reply:
        return replied(call, answers.pop(0))

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    (judged,) = await asked(ask, ["state 3"], sleep=sleep)
    assert judged.answer == NoulAnswer(0.3)
    assert pauses == [1.0, 1.0]


async def test_a_model_that_stays_busy_has_no_answer() -> None:
    tries = 0

    async def ask(call: Call) -> Reply:
        nonlocal tries
        tries += 1
        return replied(call, ErrorAnswer(AnswerError.OVERLOADED))

    async def sleep(seconds: float) -> None:
        pass

    (judged,) = await asked(ask, ["state 3"], sleep=sleep)
    assert judged.answer == ErrorAnswer(AnswerError.OVERLOADED)
    assert tries == 4


async def test_other_errors_are_answers_and_late_ones_are_errors() -> None:
    """BUD-2: a call waits no longer than it may."""

    async def ask(call: Call) -> Reply:
        await asyncio.sleep(0 if "1" in str(call.entries["1"].state) else 60)
        return replied(call, ErrorAnswer(AnswerError.INVALID_INPUT))

    judged = await asked(ask, ["state 1", "state 2"], entries=1, timeout_s=0.05)
    reasons = [one.answer.error for one in judged if isinstance(one.answer, ErrorAnswer)]
    assert reasons == [AnswerError.INVALID_INPUT, AnswerError.DEADLINE_EXCEEDED]


async def test_progress_is_told() -> None:
    heard: list[int] = []
    await asked(Asked(), entries=4, done=heard.append)
    assert heard == [4, 4, 2]
