"""A server's processes are found, paused and ended, and nobody else's."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.harness.proc import processes
from benchmarks.harness.server import Server, free_port

# Serves HTTP, and starts a child that leaves the process tree: its parent ends at once.
PROGRAM = """
import os, signal, subprocess, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

if os.fork() == 0:
    if os.fork() == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pause()
    os._exit(0)
os.wait()
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    port = free_port()
    server = Server(
        [sys.executable, "-c", PROGRAM, str(port)],
        port=port,
        health="/health",
        environment={},
        log=tmp_path / "log",
    )
    yield server
    server.stop(limit_s=0)


def test_a_process_that_left_the_tree_is_still_the_servers(server: Server) -> None:
    server.wait(30)
    assert len(server.processes()) == 2


def test_stopping_ends_every_process_and_names_those_that_ignored_the_interrupt(
    server: Server,
) -> None:
    server.wait(30)
    before = {p.identity for p in server.processes()}
    assert len(server.stop(limit_s=1)) == 1
    assert not before & {p.identity for p in processes()}


def test_a_paused_server_stands_still_and_answers_again_when_resumed(server: Server) -> None:
    server.wait(30)
    server.pause()
    end = time.monotonic() + 30
    while states(server) != {"T"}:  # the kernel's letter for a stopped process
        assert time.monotonic() < end
    server.resume()
    server.wait(30)


def states(server: Server) -> set[str]:
    return {
        Path(f"/proc/{p.pid}/stat").read_text().rpartition(")")[2].split()[0]
        for p in server.processes()
    }


def test_a_server_that_ends_at_once_is_reported_with_its_log(tmp_path: Path) -> None:
    server = Server(
        [sys.executable, "-c", "raise SystemExit('no model')"],
        port=free_port(),
        health="/health",
        environment={},
        log=tmp_path / "log",
    )
    started = time.monotonic()
    with pytest.raises(RuntimeError, match="log"):
        server.wait(60)
    assert time.monotonic() - started < 60
    assert "no model" in server.log.read_text()
