"""What a process makes of each policy that it knows, and how that ends (CFG-10)."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, Protocol, TypeVar

from serve_app.deployments.rollout.policy import Policy, PolicyError

logger = logging.getLogger(__name__)

KEPT: Final = 2


class Closable(Protocol):
    """``aclose`` waits for the requests that still use it and then closes what it opened."""

    async def aclose(self) -> None: ...


class Closing:
    """Closes things in the background: nobody waits for the last request of an old policy."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, old: Closable) -> None:
        task = asyncio.create_task(old.aclose())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("an old policy could not be closed: %s", type(error).__name__)


T = TypeVar("T", bound=Closable)


class Versions(Generic[T]):
    """What ``prepare`` makes of the ``KEPT`` policies that were used last, by version.

    Two, since the deployments of a graph do not change in the same instant. One that is dropped is
    closed; a caller that still needs it sends its policy along.
    """

    def __init__(self, prepare: Callable[[Policy], T]) -> None:
        self._prepare = prepare
        self._prepared: OrderedDict[str, T] = OrderedDict()
        self._closing = Closing()

    def __len__(self) -> int:
        return len(self._prepared)

    def __iter__(self) -> Iterator[T]:
        return iter(self._prepared.values())

    def add(self, policy: Policy) -> T:
        """Prepares the policy where its version is not known; nothing changes if that raises."""
        known = self.get(policy.version)
        if known is not None:
            return known
        prepared = self._prepared[policy.version] = self._prepare(policy)
        while len(self._prepared) > KEPT:
            _, dropped = self._prepared.popitem(last=False)
            self._closing.begin(dropped)
        return prepared

    def get(self, version: str) -> T | None:
        prepared = self._prepared.get(version)
        if prepared is not None:
            self._prepared.move_to_end(version)
        return prepared


@contextmanager
def keeping_what_runs(runs: bool) -> Iterator[None]:
    """Around a change of policy. A replica whose ``reconfigure`` raises is stopped by Serve, and
    the one in its place fails alike: where one ``runs`` already, a policy that cannot be taken is
    logged and the old one goes on. A new replica has none to go on with, so it must not start:
    ``PolicyError``. Neither tells a message that may hold a value of the policy (CFG-2).
    """
    try:
        yield
    except Exception as error:
        known = isinstance(error, PolicyError)
        why = str(error) if known else type(error).__name__
        if not runs:
            raise PolicyError(why).with_traceback(error.__traceback__) from None
        frames = "" if known else "\n" + "".join(traceback.format_tb(error.__traceback__))
        logger.error("a changed policy was not taken; the one before it goes on: %s%s", why, frames)
