"""The load generator counts what a server answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest

from benchmarks.harness.bodies import Body
from benchmarks.harness.load import Job, response_length, run
from benchmarks.harness.result import Result


class CountingServer:
    """A local HTTP server: keeps every state it was sent and the connections it saw."""

    def __init__(self, status: str = "200 OK", hang_up_after: int | None = None) -> None:
        self.status = status
        self.hang_up_after = hang_up_after
        self.states: list[str] = []
        self.paths: set[str] = set()
        self.connections = 0
        self.together = 0
        self.most_together = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        answered = 0
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            body = orjson.loads(await reader.readexactly(length))
            self.paths.add(head.split(b" ")[1].decode())
            if answered == self.hang_up_after:
                break
            self.together += 1
            self.most_together = max(self.most_together, self.together)
            await asyncio.sleep(0)
            self.together -= 1
            self.states.append(body["state"])
            # In two pieces, as a network may deliver it.
            writer.write(f"HTTP/1.1 {self.status}\r\ncontent-length: 2\r\n\r\n{{".encode())
            await asyncio.sleep(0)
            writer.write(b"}")
            answered += 1
        writer.close()


def job(port: int, **changes: object) -> Job:
    fields = {
        "port": port,
        "path": "/ask",
        "body": Body.SYSTEMONE,
        "seed": 3,
        "first": 0,
        "callers": 4,
        "seconds": 30.0,
        "questions": {"q": {"type": "noul", "instructions": "Is it?"}},
        "warm_s": 0.0,
        "most": 200,
    }
    return Job(**(fields | changes))  # type: ignore[arg-type]


async def measure(server: CountingServer, **changes: object) -> Result:
    async with server.listening() as port:
        return await run(job(port, **changes))


async def test_every_request_is_sent_once_and_counted() -> None:
    server = CountingServer()
    result = await measure(server)
    assert (result.sent, result.failed, len(result.latencies_ms)) == (200, 0, 200)
    assert len(set(server.states)) == 200
    assert server.paths == {"/ask"}


async def test_each_caller_keeps_one_connection_with_one_request_under_way() -> None:
    server = CountingServer()
    await measure(server, callers=6)
    assert server.connections == 6
    assert server.most_together <= 6


async def test_jobs_that_start_elsewhere_send_other_prompts() -> None:
    server = CountingServer()
    await measure(server, most=50)
    await measure(server, most=50, first=50)
    assert len(set(server.states)) == 100


async def test_a_refusal_is_a_failure_and_no_latency() -> None:
    result = await measure(CountingServer(status="503 Busy"), most=20)
    assert (result.sent, result.failed, result.latencies_ms) == (20, 20, [])


async def test_a_connection_that_breaks_is_a_failure() -> None:
    result = await measure(CountingServer(hang_up_after=5), callers=2)
    assert (len(result.latencies_ms), result.failed) == (10, 2)


async def test_warm_up_requests_are_not_measured() -> None:
    server = CountingServer()
    result = await measure(server, warm_s=30.0, most=40)
    assert (result.sent, result.latencies_ms) == (40, [])


async def test_nothing_is_under_way_when_the_time_is_over() -> None:
    server = CountingServer()
    result = await measure(server, seconds=0.05, most=5000)
    assert result.failed == 0
    assert len(server.states) == result.sent


def test_the_length_of_a_response_is_known_with_its_headers() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 12\r\n"
    assert response_length(head) == -1
    assert response_length(head + b"\r\n") == len(head) + 2 + 12


def test_a_response_without_length_is_refused() -> None:
    with pytest.raises(ValueError, match="Content-Length"):
        response_length(b"HTTP/1.1 200 OK\r\n\r\n")
