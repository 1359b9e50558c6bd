"""The engine behind LitServe: ``python -m benchmarks.servers.lit``.

One worker and one API process. The API process decodes the JSON; the worker reads the calls,
answers a batch of up to ``--batch`` together and hands finished bytes back. ``fast_queue`` stays
off: in LitServe 0.2.19 it changes nothing (the transport's configuration ignores the name it is
given under), and the ZeroMQ transport forced by hand fails, never being set up.
"""

# LitServe compares the annotation of ``decode_request`` with the class, so annotations here are
# objects and not text: no ``from __future__ import annotations``.

import argparse
from pathlib import Path

import litserve
from fastapi import Request, Response

from benchmarks.servers.edge import MEDIA_TYPE, Answered, answer_calls, write
from benchmarks.servers.engines import EngineName, load_engine
from benchmarks.servers.profile import read_profile
from models.questions.standard import SystemOneBody, parse_body
from models.questions.types import JsonValue


class SystemOne(litserve.LitAPI):  # type: ignore[misc]  # LitServe has no types
    """System One calls, batched by LitServe."""

    def __init__(self, engine: EngineName, profile: Path, batch: int, timeout_s: float) -> None:
        super().__init__(max_batch_size=batch, batch_timeout=timeout_s, api_path="/v1/systemone")
        self.engine_name = engine
        self.profile = profile

    def setup(self, device: str) -> None:
        self.engine = load_engine(self.engine_name, read_profile(self.profile))

    def decode_request(self, request: Request) -> SystemOneBody:
        body: JsonValue = request  # in the worker LitServe passes what the JSON held
        return parse_body(body)

    def predict(self, calls: list[SystemOneBody]) -> list[tuple[SystemOneBody, Answered]]:
        return list(zip(calls, answer_calls(self.engine, calls), strict=True))

    def encode_response(self, output: tuple[SystemOneBody, Answered]) -> Response:
        return Response(write(self.engine, *output), media_type=MEDIA_TYPE)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--engine", type=EngineName, required=True)
    arguments.add_argument("--profile", type=Path, required=True)
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--batch", type=int, default=16)
    arguments.add_argument("--timeout-ms", type=float, required=True)
    options = arguments.parse_args()
    server = litserve.LitServer(
        SystemOne(options.engine, options.profile, options.batch, options.timeout_ms / 1e3),
        accelerator="cpu",
        workers_per_device=1,
        timeout=False,
    )
    server.run(
        host="127.0.0.1",
        port=options.port,
        num_api_servers=1,
        log_level="warning",
        access_log=False,
        generate_client_file=False,
    )


if __name__ == "__main__":
    main()
