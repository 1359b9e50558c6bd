"""Servers for tests: an application under uvicorn, and the echo provider as a process."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import uvicorn

ECHO_PROVIDER = Path(__file__).parents[2] / "examples" / "echo_provider.py"


class _Server(uvicorn.Server):
    """Says when it is up, and leaves the test process's signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[str]:
    """``app`` under uvicorn in this loop, on a free port; its root URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=2)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    up = asyncio.create_task(server.up.wait())
    await asyncio.wait((task, up), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


@contextmanager
def echo_provider() -> Iterator[str]:
    """The echo provider as a process of its own; its base URL, ``/v1`` included."""
    process = subprocess.Popen(
        [sys.executable, str(ECHO_PROVIDER), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=10)
