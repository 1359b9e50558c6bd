"""A child process that answers jobs, one JSON line each way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from benchmarks.harness.process_group import ProcessGroup
from benchmarks.harness.result import Result


class Worker(ProcessGroup):
    """A process group whose first process reads jobs and writes results."""

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str], log: Path
    ) -> None:
        super().__init__(command, environment=environment, log=log, piped=True)

    def ask(self, job: Mapping[str, Any]) -> Result:
        """RuntimeError when the worker ended instead of answering."""
        assert self.first.stdin is not None
        assert self.first.stdout is not None
        self.first.stdin.write(orjson.dumps(job) + b"\n")
        self.first.stdin.flush()
        line = self.first.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended; its output is in {self.log}")
        return Result(**orjson.loads(line))


def serve(work: Callable[[dict[str, Any]], Result]) -> None:
    """The worker's side: until its input ends."""
    for line in sys.stdin.buffer:
        result = work(orjson.loads(line))
        sys.stdout.buffer.write(orjson.dumps(asdict(result)) + b"\n")
        sys.stdout.buffer.flush()
