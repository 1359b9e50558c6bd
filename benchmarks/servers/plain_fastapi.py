"""The engine behind plain FastAPI: ``python -m benchmarks.servers.plain_fastapi``.

One worker, an async endpoint, a thread for the engine, and a lock: one call at a time, never two
in a forward. What most people would write first.
"""

from __future__ import annotations

import argparse
import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

from benchmarks.servers.edge import MEDIA_TYPE, Answered, answer_calls, write
from benchmarks.servers.engines import EngineName, load_engine
from benchmarks.servers.profile import read_profile
from models.engine import Engine
from models.questions.standard import SystemOneBody, parse_body


class LockedEngine:
    """An engine that answers one call at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()

    def answer(self, call: SystemOneBody) -> Answered:
        with self._lock:
            return answer_calls(self._engine, [call])[0]


def build(engine: Engine) -> FastAPI:
    """The application."""
    app = FastAPI()
    locked = LockedEngine(engine)
    thread = ThreadPoolExecutor(max_workers=1)

    @app.get("/health")
    async def health() -> Response:
        return Response()

    @app.post("/v1/systemone")
    async def systemone(request: Request) -> Response:
        call = parse_body(orjson.loads(await request.body()))
        loop = asyncio.get_running_loop()
        answered = await loop.run_in_executor(thread, locked.answer, call)
        return Response(write(engine, call, answered), media_type=MEDIA_TYPE)

    return app


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--engine", type=EngineName, required=True)
    arguments.add_argument("--profile", type=Path, required=True)
    arguments.add_argument("--port", type=int, required=True)
    options = arguments.parse_args()
    uvicorn.run(
        build(load_engine(options.engine, read_profile(options.profile))),
        host="127.0.0.1",
        port=options.port,
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
    )


if __name__ == "__main__":
    main()
