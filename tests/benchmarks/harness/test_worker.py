"""A worker answers a line with a line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.harness.result import Result
from benchmarks.harness.worker import Worker

PROGRAM = """
from benchmarks.harness.result import Result
from benchmarks.harness.worker import serve

def work(job):
    if job["n"] < 0:
        raise SystemExit("no such job")
    return Result([float(job["n"])], seconds=1.0, sent=job["n"])

serve(work)
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    worker = Worker([sys.executable, "-c", PROGRAM], environment=environment, log=tmp_path / "log")
    yield worker
    worker.stop(limit_s=5)


def test_jobs_are_answered_one_after_the_other(worker: Worker) -> None:
    assert [worker.ask({"n": n}) for n in (3, 5)] == [
        Result([3.0], 1.0, 3),
        Result([5.0], 1.0, 5),
    ]


def test_a_worker_that_ends_is_reported_with_its_log(worker: Worker) -> None:
    with pytest.raises(RuntimeError, match="log"):
        worker.ask({"n": -1})
    assert "no such job" in worker.log.read_text()


def test_an_interrupt_ends_it_even_where_this_process_ignores_interrupts(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        worker = Worker(
            [sys.executable, "-c", PROGRAM], environment=environment, log=tmp_path / "log"
        )
    finally:
        signal.signal(signal.SIGINT, before)
    worker.ask({"n": 1})
    assert worker.stop(limit_s=30) == []
