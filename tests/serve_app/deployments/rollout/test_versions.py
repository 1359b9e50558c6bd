"""What a process keeps of the policies that it knew, and the end of the others. CFG-10"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from serve_app.config.schema.document import Config
from serve_app.deployments.rollout.open_requests import OpenRequests
from serve_app.deployments.rollout.policy import Policy, PolicyError
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


@dataclass(frozen=True)
class Told:
    """What is told of a change that raises: in the log of a replica that runs, and by a new one
    that does not start."""

    log: str
    start: str


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[Exception], Told]:
    def change(error: Exception, runs: bool) -> None:
        with keeping_what_runs(runs):
            raise error

    def told(error: Exception) -> Told:
        caplog.clear()
        change(error, runs=True)
        (record,) = caplog.records
        assert (record.levelname, record.exc_info) == ("ERROR", None)
        with pytest.raises(PolicyError) as refused:
            change(error, runs=False)
        whole = "".join(traceback.format_exception(refused.value))
        assert "keeping_what_runs" in whole
        return Told(record.getMessage(), whole)

    return told


SECRET = "sk-of-a-provider"
NOT_TAKEN = "a changed policy was not taken; the one before it goes on: "


def test_a_policy_that_cannot_be_taken_is_an_error_of_a_new_replica_alone(
    told: Callable[[Exception], Told],
) -> None:
    """CFG-10: Serve stops a replica that raises, and the next one would raise too"""
    found = told(PolicyError("caller ops: KEY is not set"))
    assert found.log == f"{NOT_TAKEN}caller ops: KEY is not set"
    assert found.start.endswith("PolicyError: caller ops: KEY is not set\n")


def test_a_message_that_may_hold_a_value_is_told_nowhere(
    told: Callable[[Exception], Told],
) -> None:
    """CFG-2: the type is, and where it was raised"""
    found = told(OSError(SECRET))
    assert found.log.startswith(f"{NOT_TAKEN}OSError\n")
    assert "in change" in found.log
    assert "in change" in found.start
    assert found.start.endswith("PolicyError: OSError\n")
    assert SECRET not in found.log + found.start


def test_what_a_configuration_says_is_told_nowhere(
    told: Callable[[Exception], Told],
) -> None:
    """CFG-2"""
    with pytest.raises(ValidationError) as refused:
        Config.model_validate({"version": SECRET})
    assert SECRET in str(refused.value)
    found = told(refused.value)
    assert SECRET not in found.log + found.start


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
