"""``POST /api/v1/config/validate``: what is wrong with a document (CFG-10)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import orjson

from serve_app.errors import Code, RouterError

MAX_BYTES: Final = 256 * 1024
"""A thousand recipes. A plain file of this size is checked in a few seconds, but a tenth of it can
be made to take minutes (aliases, thousands of misspelled names): no size bounds the time. So a
document is checked in a process of its own, which ``validation_process`` limits and which holds
neither the event loop nor the interpreter's lock.
"""

PATIENCE_S: Final = 15.0
"""The process is ended then, whatever it had of the machine."""

WAITING: Final = 4
"""Documents that wait for the one that is validated; more are refused."""

_COMMAND: Final = (sys.executable, "-m", "serve_app.deployments.api.validation_process")
_INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class ConfigValidator:
    """Validates documents one at a time. ``variables``: those that the environment sets."""

    def __init__(self, variables: Collection[str]) -> None:
        # Those that a document can name; others may hold bytes that no JSON can.
        self._variables = sorted(n for n in variables if n.isascii() and n.isidentifier())
        self._one = ThreadPoolExecutor(1, thread_name_prefix="validation")
        self._room = threading.Semaphore(1 + WAITING)

    async def verdict(self, document: bytes) -> bytes:
        """``{valid, version, problems, more_problems}`` as JSON: ``problems`` are those of
        ``check --format json``, the first 200 of them.

        ``RouterError``: no UTF-8 text, too costly to validate here, or too many wait.
        """
        try:
            text = document.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RouterError(
                Code.INVALID_REQUEST, "the document is no UTF-8 text", loc=("body",)
            ) from None
        given = orjson.dumps({"text": text, "variables": self._variables})
        if not self._room.acquire(blocking=False):
            raise RouterError(
                Code.OVERLOADED, "other documents are being judged", retry_after_s=5.0
            )
        verdict = self._one.submit(_validated, given)
        verdict.add_done_callback(lambda _: self._room.release())
        return await asyncio.wrap_future(verdict)


def _validated(given: bytes) -> bytes:
    environ = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        ended = subprocess.run(
            _COMMAND, input=given, capture_output=True, env=environ, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        raise _too_costly() from None
    if ended.returncode > 0 and b"MemoryError" not in ended.stderr:
        raise RuntimeError(f"the validation process ended with {ended.returncode}")
    if ended.returncode or not ended.stdout:
        raise _too_costly()
    return ended.stdout


def _too_costly() -> RouterError:
    return RouterError(
        Code.INVALID_REQUEST,
        "the document takes too long or too much memory to judge here; "
        "`python -m serve_app check FILE` has no such limits",
        loc=("body",),
    )
