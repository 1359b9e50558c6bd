"""The one thread a model computes in (SRV-7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class ModelThread:
    """Runs jobs in order and gives each result back to the event loop that asked.

    A pool of one thread does the same at three times the cost per job, keeps a process with a
    stuck forward from ending, and does not tell whether its thread lives. A job must not raise:
    an exception ends the thread, which ``alive`` shows.
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def run(self, job: Callable[[], T], then: Callable[[T], None]) -> None:
        """Called on a running loop, which calls ``then`` with the result of ``job``."""
        loop = asyncio.get_running_loop()

        def work() -> None:
            result = job()
            if not loop.is_closed():
                loop.call_soon_threadsafe(then, result)

        self._jobs.put(work)

    def close(self) -> None:
        """Ends the thread after the jobs it was given."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
