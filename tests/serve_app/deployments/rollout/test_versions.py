"""What a process keeps of the policies that it knew, and the end of the others. CFG-10"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from serve_app.deployments.rollout.open_requests import OpenRequests
from serve_app.deployments.rollout.policy import Policy
from serve_app.deployments.rollout.versions import Closing, Versions, keeping_what_runs


class Prepared:
    """Made of a policy; ``closed`` once it was."""

    def __init__(self, policy: Policy) -> None:
        self.version = policy.version
        self.closed = False

    async def aclose(self) -> None:
        self.closed = True


def policy(version: str) -> Policy:
    config: Any = None
    return Policy(version, config, {})


async def turns() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_the_last_two_are_kept_and_others_are_closed() -> None:
    """CFG-10"""
    versions = Versions(Prepared)
    a, b, c = (versions.add(policy(version)) for version in "abc")
    await turns()
    assert (versions.get("a"), versions.get("b"), versions.get("c")) == (None, b, c)
    assert [one.closed for one in (a, b, c)] == [True, False, False]


async def test_the_one_that_requests_still_use_is_kept() -> None:
    """CFG-10: an Ingress that has yet to change sends its requests on"""
    versions = Versions(Prepared)
    a, b = versions.add(policy("a")), versions.add(policy("b"))
    assert versions.get("a") is a
    versions.add(policy("c"))
    await turns()
    assert versions.get("a") is a
    assert (a.closed, b.closed) == (False, True)


async def test_a_known_version_is_prepared_once() -> None:
    """CFG-10: learned from a request first, or from Serve"""
    versions = Versions(Prepared)
    assert versions.add(policy("a")) is versions.add(policy("a"))
    assert len(versions) == 1


async def test_one_that_cannot_be_prepared_changes_nothing() -> None:
    def prepare(policy: Policy) -> Prepared:
        if policy.version == "bad":
            raise ValueError("bad")
        return Prepared(policy)

    versions = Versions(prepare)
    a, b = versions.add(policy("a")), versions.add(policy("b"))
    with pytest.raises(ValueError, match="bad"):
        versions.add(policy("bad"))
    assert (versions.get("a"), versions.get("b"), versions.get("bad")) == (a, b, None)


async def test_a_failed_close_is_logged_and_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Stuck:
        async def aclose(self) -> None:
            raise OSError("secret of a request")

    Closing().begin(Stuck())
    await turns()
    (record,) = caplog.records
    assert record.getMessage() == "an old policy could not be closed: OSError"


def test_a_policy_that_cannot_be_taken_is_an_error_of_a_new_replica_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """CFG-10: Serve stops a replica that raises, and the next one would raise too"""

    def fails() -> None:
        raise ValueError("KEY is not set")

    def change(runs: bool, change: Callable[[], None] = fails) -> None:
        with keeping_what_runs(runs):
            change()

    change(True)
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert "was not taken" in record.getMessage()
    with pytest.raises(ValueError, match="KEY is not set"):
        change(False)


async def test_requests_end_in_any_order() -> None:
    requests = OpenRequests()
    first, second = requests.one_more(), requests.one_more()
    first.__enter__()
    second.__enter__()
    ended = asyncio.create_task(requests.ended())
    first.__exit__(None, None, None)
    await turns()
    assert not ended.done()
    second.__exit__(None, None, None)
    await ended
