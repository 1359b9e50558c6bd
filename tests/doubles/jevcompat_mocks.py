"""The public suite's own server, ``jevcompat mock``, as a process, with or without a fault."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from jevcompat.mock import FAULTS

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
