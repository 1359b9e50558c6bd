"""Labelled questions put to a deployment, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

from models.evaluation.judged import Judged, judge
from models.evaluation.truth import Example
from models.questions.types import AnswerError
from serve_app.asking.call import Ask, Call, Entry, Reply
from serve_app.asking.stage import Clock, answered

MOST_ENTRIES: Final = 16
MOST_CHARACTERS: Final = 65_536
"""Of one call's states together, unless a single one has more: a model of this process answers all
of a call in as few forwards as it can, which takes memory."""

TRIES: Final = 4
LONGEST_PAUSE_S: Final = 30.0
_PAUSE_S: Final = 1.0
_BUSY: Final = frozenset({AnswerError.OVERLOADED, AnswerError.NOT_READY})


async def ask_all(
    examples: Sequence[Example],
    deployment: str,
    ask: Ask,
    clock: Clock,
    *,
    thresholds: Mapping[str, float],
    entries: int = MOST_ENTRIES,
    concurrency: int = 1,
    timeout_s: float | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    done: Callable[[int], None] = lambda count: None,
) -> list[Judged]:
    """The answers beside their truths, in the order of the data.

    ``entries``: most states of a call; 1 makes every call a standard request, which any API
    understands. ``concurrency``: calls that are open at a time. ``done`` hears how many more
    examples have been asked. ``thresholds``: the model's calibrated ones, by preset.
    """
    judged: dict[int, list[Judged]] = {}
    left = calls(examples, entries)  # workers share it: what one takes no other does

    async def work() -> None:
        for together in left:
            named = {str(i): example for i, example in enumerate(together, 1)}
            call = Call(deployment, {n: _entry(e) for n, e in named.items()}, timeout_s)
            reply = await _patiently(call, ask, clock, sleep)
            for name, example in named.items():
                judged[example.line] = judge(example, reply.answers[name], thresholds)
            done(len(together))

    async with asyncio.TaskGroup() as workers:
        for _ in range(concurrency):
            workers.create_task(work())
    return [one for line in sorted(judged) for one in judged[line]]


def calls(examples: Sequence[Example], entries: int) -> Iterator[list[Example]]:
    """The examples of each call, in order."""
    together: list[Example] = []
    characters = 0
    for example in examples:
        over = characters + len(example.text) > MOST_CHARACTERS
        if together and (over or len(together) == entries):
            yield together
            together, characters = [], 0
        together.append(example)
        characters += len(example.text)
    if together:
        yield together


async def _patiently(
    call: Call, ask: Ask, clock: Clock, sleep: Callable[[float], Awaitable[None]]
) -> Reply:
    """A model without room is asked again: how busy it was says nothing of what it knows."""
    for _ in range(TRIES - 1):
        (reply,) = await answered([call], ask, clock)
        reasons = {reason for by_id in reply.unanswered.values() for reason in by_id.values()}
        if not reasons & _BUSY:
            return reply
        await sleep(min(LONGEST_PAUSE_S, reply.retry_after_s or _PAUSE_S))
    (reply,) = await answered([call], ask, clock)
    return reply


def _entry(example: Example) -> Entry:
    return Entry(example.state, {id: one.question for id, one in example.questions.items()})
