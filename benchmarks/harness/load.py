"""A closed-loop load generator, a process of its own: ``python -m benchmarks.harness.load``.

It reads a JSON job a line and writes a JSON result a line. Each caller is one keep-alive
connection that sends its next request when the last one is answered; bodies are made before
the clock starts. What is under way when the measured time ends is awaited, so that a job leaves
nothing behind in the server.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, cast

import uvloop

from benchmarks.harness.bodies import Body, render
from benchmarks.harness.prompts import Prompts
from benchmarks.harness.result import Result
from benchmarks.harness.worker import serve
from models.questions.types import JsonValue


@dataclass(frozen=True, slots=True)
class Job:
    """``first``: number of the first prompt. ``warm_s`` seconds pass before ``seconds`` are
    measured; ``drain_s`` bounds the wait for what is under way at the end.
    """

    port: int
    path: str
    body: Body
    seed: int
    first: int
    callers: int
    seconds: float
    questions: JsonValue = None
    warm_s: float = 0.3
    drain_s: float = 30.0
    most: int = 12_000

    def fields(self) -> dict[str, Any]:
        """The job as a line of JSON has it."""
        return asdict(self)


class _Run:
    """State that the callers of one job share."""

    def __init__(self, job: Job, requests: Iterator[bytes]) -> None:
        self.job = job
        self.requests = requests
        self.result = Result()
        self.measuring = False
        self.stopped = False

    def next_request(self) -> bytes | None:
        request = None if self.stopped else next(self.requests, None)
        self.result.sent += request is not None
        return request

    def answered(self, ok: bool, started: float) -> None:
        if not ok:
            self.result.failed += 1
        elif self.measuring:
            self.result.latencies_ms.append((perf_counter() - started) * 1e3)


class _Caller(asyncio.Protocol):
    """One connection. ``done`` resolves when it has nothing under way and nothing to send."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.buffer = b""
        self.end = -1  # length of the whole response, -1 while its head is incomplete
        self.started = 0.0
        self.waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def send(self) -> None:
        request = self.run.next_request()
        if request is None:
            self.transport.close()
            self._finish()
            return
        self.buffer, self.end, self.waiting = b"", -1, True
        self.started = perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.end < 0:
            self.end = response_length(self.buffer)
        if 0 <= self.end <= len(self.buffer):
            self.waiting = False
            self.run.answered(self.buffer[9:12] == b"200", self.started)
            self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.waiting:
            self.run.answered(False, self.started)
        self._finish()

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


def response_length(head: bytes) -> int:
    """Bytes of the response that starts with ``head``; -1 while its headers are incomplete.

    ValueError for a response without ``Content-Length``.
    """
    end = head.find(b"\r\n\r\n")
    if end < 0:
        return -1
    for line in head[:end].split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return end + 4 + int(value)
    raise ValueError("a response without Content-Length")


def _requests(job: Job) -> list[bytes]:
    prompts = Prompts(job.seed)
    requests = []
    for number in range(job.first, job.first + job.most):
        body = render(job.body, prompts[number], job.questions)
        requests.append(
            f"POST {job.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
    return requests


async def run(job: Job) -> Result:
    """Loads the server at ``127.0.0.1:port``. OSError when it does not listen."""
    state = _Run(job, iter(_requests(job)))
    loop = asyncio.get_running_loop()
    gc.collect()
    gc.disable()
    try:
        connections = [
            await loop.create_connection(lambda: _Caller(state), "127.0.0.1", job.port)
            for _ in range(job.callers)
        ]
        callers = [caller for _, caller in connections]
        everyone = asyncio.gather(*(caller.done for caller in callers))
        state.measuring = job.warm_s == 0
        for caller in callers:
            caller.send()
        if not state.measuring:
            await asyncio.wait([everyone], timeout=job.warm_s)
        started = perf_counter()
        state.measuring = True
        await asyncio.wait([everyone], timeout=job.seconds)
        state.measuring, state.stopped = False, True
        state.result.seconds = perf_counter() - started
        await asyncio.wait([everyone], timeout=job.drain_s)
        for caller in callers:
            caller.transport.abort()
        await everyone
    finally:
        gc.enable()
    return state.result


def work(fields: dict[str, Any]) -> Result:
    """Runs the job whose fields these are."""
    return uvloop.run(run(Job(**(fields | {"body": Body(fields["body"])}))))


if __name__ == "__main__":
    serve(work)
