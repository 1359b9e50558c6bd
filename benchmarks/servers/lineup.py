"""Who plays: every contestant of an engine, started."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from benchmarks.harness import names
from benchmarks.harness.bodies import Body
from benchmarks.harness.contest import Contestant, in_process, over_http
from benchmarks.harness.process_group import ProcessGroup
from benchmarks.harness.server import Server, free_port
from benchmarks.harness.worker import Worker
from benchmarks.servers.engines import EngineName
from benchmarks.servers.graph import FIXED_APPLICATION, start_graph
from benchmarks.servers.profile import ROOT, Profile
from models.questions.types import JsonValue

_Group = TypeVar("_Group", bound=ProcessGroup)

BARE: Final = "bare"
FASTAPI: Final = "fastapi"
LITSERVE: Final = "litserve"
GRAPH: Final = "graph"

TIMEOUTS_MS: Final = (0.0, 5.0, 20.0)
"""LitServe's batch timeouts: none, and two that let a batch gather."""

SYSTEMONE: Final = "/v1/systemone"
PREVIEW: Final = "/api/v1/routing/preview"


@dataclass(slots=True)
class Lineup:
    """The contestants of ``engine`` that are ``wanted``, and what they are loaded with.

    Processes are ended with ``stack``; their output goes to files in ``folder``, which is this
    line-up's own.
    """

    engine: EngineName
    wanted: Collection[str]
    profile: Profile
    seed: int
    folder: Path
    stack: ExitStack
    port: int = field(init=False)
    config: Path = field(init=False)

    def __post_init__(self) -> None:
        self.port = free_port()
        application = FIXED_APPLICATION if self.engine is EngineName.FIXED else None
        self.config = self.profile.write(self.folder, port=self.port, import_path=application)

    def start(self) -> tuple[list[Contestant], Worker]:
        """Starts them one after the other, for an engine may choose by what it measures when it
        loads; all are ready and run when this returns. The load generator is second."""
        load = self._worker("benchmarks.harness.load", "load")
        contestants = self._bare()
        servers = []
        questions: JsonValue = self.profile.questions()
        for server, paths in self._servers():
            server.wait()
            servers.append(server)
            contestants += [
                over_http(name, server, path, body, load, self.seed, questions)
                for name, path, body in paths
            ]
            server.pause()
        for server in servers:
            server.resume()
        return contestants, load

    def _bare(self) -> list[Contestant]:
        if BARE not in self.wanted or self.engine is EngineName.FIXED:
            return []
        worker = self._worker("benchmarks.servers.bare", "bare", *self._engine_options())
        contestants = [
            in_process(names.BARE, worker, "answer", self.seed),
            in_process(names.ENCODER, worker, "encoder", self.seed),
        ]
        for contestant in contestants:
            contestant.play(1, 0.0, 0)  # answers when it has loaded
        return contestants

    def _servers(self) -> Iterator[tuple[Server, list[tuple[str, str, Body]]]]:
        """Each is started when it is taken; with its paths, as (contestant, path, body)."""
        if FASTAPI in self.wanted:
            server = self._server("benchmarks.servers.plain_fastapi", "fastapi")
            yield server, [(names.FASTAPI, SYSTEMONE, Body.SYSTEMONE)]
        if LITSERVE in self.wanted:
            for timeout in TIMEOUTS_MS:
                option = ("--timeout-ms", f"{timeout:g}")
                server = self._server("benchmarks.servers.lit", f"litserve-{timeout:g}", *option)
                yield server, [(names.litserve(timeout), SYSTEMONE, Body.SYSTEMONE)]
        if GRAPH in self.wanted:
            graph = start_graph(self.config, self.port, self.environment(), self._log("graph"))
            yield (
                self._until_the_end(graph),
                [
                    (names.SYSTEMONE, SYSTEMONE, Body.SYSTEMONE),
                    (names.PREVIEW, PREVIEW, Body.CHAT),
                ],
            )

    def environment(self) -> dict[str, str]:
        """The profile's variables, and this Python's programs and this repository first."""
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return {
            **os.environ,
            **self.profile.variables,
            "PATH": programs,
            "PYTHONPATH": str(ROOT),
        }

    def _worker(self, module: str, name: str, *options: str) -> Worker:
        return self._until_the_end(
            Worker(
                [sys.executable, "-m", module, *options],
                environment=self.environment(),
                log=self._log(name),
            )
        )

    def _server(self, module: str, name: str, *options: str) -> Server:
        port = free_port()
        command = [sys.executable, "-m", module, "--port", str(port), *self._engine_options()]
        return self._until_the_end(
            Server(
                [*command, *options],
                port=port,
                health="/health",
                environment=self.environment(),
                log=self._log(name),
            )
        )

    def _engine_options(self) -> tuple[str, ...]:
        return "--engine", self.engine, "--profile", str(self.config)

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _until_the_end(self, group: _Group) -> _Group:
        self.stack.callback(_end, group)
        return group


def _end(group: ProcessGroup) -> None:
    """Interrupts it, and names what had to be ended by force or is still there."""
    if stubborn := group.stop():
        print(f"ended by force: {', '.join(stubborn)}", file=sys.stderr)
    if left := group.processes():
        print(f"still there: {left}", file=sys.stderr)
