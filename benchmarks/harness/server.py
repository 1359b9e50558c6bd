"""A server under measurement."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic, sleep

from benchmarks.harness.process_group import ProcessGroup


class Server(ProcessGroup):
    """A process group that listens on ``port`` of 127.0.0.1."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        port: int,
        health: str,
        environment: Mapping[str, str],
        log: Path,
    ) -> None:
        super().__init__(command, environment=environment, log=log)
        self.port = port
        self.health = health

    def wait(self, limit_s: float = 120) -> None:
        """Until the health path answers 200; RuntimeError when it does not within ``limit_s``."""
        end = monotonic() + limit_s
        while monotonic() < end and self.first.poll() is None:
            if answers(self.port, self.health):
                return
            sleep(0.1)
        raise RuntimeError(f"no answer at {self.health}; its output is in {self.log}")


def answers(port: int, path: str) -> bool:
    """Whether ``GET path`` on 127.0.0.1 gives 200 within two seconds."""
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
