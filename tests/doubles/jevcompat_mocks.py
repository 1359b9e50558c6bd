"""The public suite's own server, ``jevcompat mock``, as a process, with or without a fault."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from jevcompat.mock import FAULTS, MockConfig, make_server

NAMES: Final = tuple(FAULTS)
PROGRAM: Final = Path(sys.executable).with_name("jevcompat")


@contextmanager
def jevcompat_mock(*faults: str, key: str | None = None) -> Iterator[str]:
    """The endpoint of a mock with ``faults``; it takes 0.2 s to start. ``key``: that it requires,
    ``None`` for none.
    """
    options = [option for fault in faults for option in ("--fault", fault)]
    if key is not None:
        options += ["--key", key]
    process = subprocess.Popen(
        [PROGRAM, "mock", "--port", "0", *options], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://\S+/v1/systemone", said)
        assert found, said
        yield found.group()
    finally:
        process.terminate()
        process.wait(timeout=10)


@contextmanager
def jevcompat_mocks(keys: Mapping[str, str | None]) -> Iterator[dict[str, str]]:
    """Fault -> the endpoint of a mock with it. All in this process, each a server of its own: as
    many processes would take ten seconds to start. ``keys``: by fault, as above.
    """
    servers = {
        fault: make_server(MockConfig(key=key, faults=frozenset({fault})))
        for fault, key in keys.items()
    }
    with ThreadPoolExecutor(len(servers)) as pool:
        running = [pool.submit(server.serve_forever) for server in servers.values()]
        try:
            yield {
                fault: f"http://127.0.0.1:{server.server_address[1]}/v1/systemone"
                for fault, server in servers.items()
            }
        finally:
            with ThreadPoolExecutor(len(servers)) as ending:
                list(ending.map(lambda server: server.shutdown(), servers.values()))
            for one, server in zip(running, servers.values(), strict=True):
                one.result()
                server.server_close()
