"""The policy's ``ask`` over engines of this process: no Ray, no queue."""

from __future__ import annotations

from collections.abc import Mapping

from models.engine import Engine, answer_prepared, prepare
from serve_app.asking.call import Ask, Call, Reply, Timings
from serve_app.asking.rows import answers, rows
from serve_app.asking.stage import Clock


def local_ask(engines: Mapping[str, Engine], clock: Clock) -> Ask:
    """Answers in the calling thread, a call at a time. ``engines``: by deployment.

    A forward blocks the loop, so no deadline cuts it short; one that passed meanwhile counts.
    """

    async def ask(call: Call) -> Reply:
        engine = engines[call.deployment]
        start = clock()
        prepared = [prepare(engine, row) for row in rows(call)]
        ready = clock()
        answered = answer_prepared(engine, prepared)
        end = clock()
        return Reply(
            answers=answers(call, [row.answers for row in answered]),
            tokens={name: row.tokens for name, row in zip(call.entries, answered, strict=True)},
            elapsed_ms=(end - start) * 1000,
            timings=Timings(0.0, (ready - start) * 1000, (end - ready) * 1000),
        )

    return ask
