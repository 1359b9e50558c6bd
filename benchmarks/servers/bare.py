"""The engine with nothing around it: ``python -m benchmarks.servers.bare``.

A worker that takes prompts one after the other in its only thread and gives back the times:
``answer`` tokenises and answers, ``encoder`` is the forward of a tokenised row without questions,
``calls`` answers given calls, each with questions of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from benchmarks.harness.calls import Call, Calls
from benchmarks.harness.prompts import Prompts
from benchmarks.harness.result import Result
from benchmarks.harness.worker import serve
from benchmarks.servers.engines import EngineName, load_engine
from benchmarks.servers.profile import read_profile
from models.engine import Engine, Row, answer
from models.questions.parse import parse_question
from models.questions.types import ErrorAnswer, Question

Input = TypeVar("Input")

WARM_UP = 20


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--engine", type=EngineName, required=True)
    arguments.add_argument("--profile", type=Path, required=True)
    options = arguments.parse_args()
    profile = read_profile(options.profile)
    engine = load_engine(options.engine, profile)
    asked = profile.questions().values()
    questions = tuple(parse_question(question, client=True) for question in asked)
    serve(lambda job: measure(engine, questions, job))


def measure(engine: Engine, questions: tuple[Question, ...], job: dict[str, Any]) -> Result:
    """One job: ``what`` and ``seed``, with ``calls`` or with ``first`` and ``seconds``."""
    if job["what"] == "calls":
        return each(engine, Calls(job["seed"]), [Call(**call) for call in job["calls"]])
    prompts = Prompts(job["seed"])
    texts = (prompts[number] for number in count(job["first"]))
    if job["what"] == "encoder":
        prepared = (engine.prepare(Row(text, ())) for text in texts)
        return timed(lambda row: engine.forward([row]), prepared, job["seconds"])
    rows = (Row(text, questions) for text in texts)
    return timed(lambda row: answer(engine, [row]), rows, job["seconds"])


def each(engine: Engine, contents: Calls, calls: Sequence[Call]) -> Result:
    """The time of every call, tokenising and scoring in it, parsing its questions not.

    A call counts as failed where its state has another number of tokens or a question has no
    answer.
    """
    result = Result(sent=len(calls))
    for call in calls:
        asked = contents.questions(call).values()
        questions = tuple(parse_question(question, client=True) for question in asked)
        row = Row(contents.state(call), questions)
        before = perf_counter()
        (answers,) = answer(engine, [row])
        result.latencies_ms.append((perf_counter() - before) * 1e3)
        unanswered = any(isinstance(given, ErrorAnswer) for given in answers)
        result.failed += unanswered or engine.prepare(Row(row.state, ())).tokens != call.tokens
    result.seconds = sum(result.latencies_ms) / 1e3
    return result


def timed(call: Callable[[Input], Any], inputs: Iterator[Input], seconds: float) -> Result:
    """Calls with one input after the other for ``seconds``, after some calls to warm up; making
    an input is not part of a call's time.
    """
    for _ in range(WARM_UP):
        call(next(inputs))
    result = Result(sent=WARM_UP)
    started = perf_counter()
    while result.seconds < seconds:
        given = next(inputs)
        before = perf_counter()
        call(given)
        after = perf_counter()
        result.latencies_ms.append((after - before) * 1e3)
        result.seconds = after - started
    result.sent += len(result.latencies_ms)
    return result


if __name__ == "__main__":
    main()
