"""A planner's policies: from Serve, from a request that needs one, and their end. CFG-10"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from serve_app.asking.call import Call, Reply
from serve_app.deployments import signal_planner
from serve_app.deployments.planning.call import NotPlanned, PlanCall
from serve_app.deployments.planning.decider import Decider
from serve_app.deployments.rollout.policy import PolicyError
from serve_app.deployments.signal_planner import SignalPlanner
from serve_app.message import Message
from serve_app.outcome import Outcome
from serve_app.scan.speed import Speed, Speeds
from tests.doubles.fault_server import FaultServer
from tests.doubles.handles import ScriptedHandle
from tests.doubles.policies import policy, remote_policy


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> SignalPlanner:
    monkeypatch.setattr(signal_planner, "prepare_replica", lambda: None)
    model: Any = ScriptedHandle()
    return SignalPlanner({"primary": model})


def call(version: str, **more: Any) -> PlanCall:
    return PlanCall(Message("hello"), "default", version, **more)


async def decided(planner: SignalPlanner, call: PlanCall) -> tuple[str | None, str] | None:
    outcome = await planner.plan(call)
    if isinstance(outcome, NotPlanned):
        return None
    return outcome.decision, outcome.config_version


async def test_a_request_is_decided_by_the_version_it_names(planner: SignalPlanner) -> None:
    """CFG-10"""
    await planner.reconfigure(policy("a").user_config())
    await planner.reconfigure(policy("b").user_config())
    assert await decided(planner, call("a")) == ("decided-a", "a")
    assert await decided(planner, call("b")) == ("decided-b", "b")
    assert await decided(planner, call("c")) is None


async def test_a_version_is_learned_from_the_request_that_brings_it(
    planner: SignalPlanner,
) -> None:
    """CFG-10: an Ingress that changed first"""
    await planner.reconfigure(policy("a").user_config())
    brought = call("b", user_config=policy("b").user_config())
    assert await decided(planner, brought) == ("decided-b", "b")
    assert await decided(planner, call("b")) == ("decided-b", "b")
    assert await decided(planner, call("a")) == ("decided-a", "a")


async def test_a_policy_of_another_graph_is_not_learned(planner: SignalPlanner) -> None:
    """CFG-10: this replica has no handle of its second model"""
    await planner.reconfigure(policy("a").user_config())
    wider = policy("b", "primary", "second").user_config()
    assert await decided(planner, call("b", user_config=wider)) is None


async def test_a_bad_policy_leaves_the_old_one(planner: SignalPlanner) -> None:
    """CFG-10"""
    await planner.reconfigure(policy("a").user_config())
    await planner.reconfigure({"version": "b", "config": {"version": "v2"}, "cards": {}})
    assert await decided(planner, call("a")) == ("decided-a", "a")
    assert await decided(planner, call("b")) is None


async def test_a_new_replica_does_not_start_with_a_bad_policy(planner: SignalPlanner) -> None:
    """CFG-10, CFG-2: the error says where, and no value"""
    with pytest.raises(PolicyError, match=r"^Config: version \(literal_error\)$"):
        await planner.reconfigure({"version": "b", "config": {"version": "v2"}, "cards": {}})


class Opened:
    """In the place of a policy's remote models."""

    closed = False

    def __contains__(self, deployment: str) -> bool:
        return False

    async def aclose(self) -> None:
        self.closed = True


async def test_what_a_policy_opened_is_closed_after_the_last_request_that_uses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CFG-10"""
    released = asyncio.Event()
    opened: Any = Opened()

    async def ask(call: Call) -> Reply:
        raise AssertionError("nothing is asked here")

    async def route(*_: object, **__: object) -> Outcome:
        await released.wait()
        return Outcome("default", "a")

    monkeypatch.setattr("serve_app.deployments.planning.decider.route", route)
    recipes: Any = {"default": None}
    decider = Decider("a", recipes, ask, opened, Speeds())
    asked = asyncio.create_task(decider.decide(Message("hello"), "default", None, explain=False))
    await asyncio.sleep(0)
    closing = asyncio.create_task(decider.aclose())
    await asyncio.sleep(0)
    assert not opened.closed
    released.set()
    assert (await asked).config_version == "a"
    await closing
    assert opened.closed


async def test_every_version_of_a_process_keeps_its_own_remote_answers_until_the_next_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CACHE-2, SRV-20: they are the asking client's, per process"""
    monkeypatch.setattr(signal_planner, "prepare_replica", lambda: None)
    with FaultServer() as far:

        def remote(version: str) -> dict[str, Any]:
            return remote_policy(version, far.endpoint("none")).user_config()

        planner = SignalPlanner({})
        await planner.reconfigure(remote("a"))
        for _ in range(3):
            assert await decided(planner, call("a")) == ("decided-a", "a")
        assert far.calls("none") == 1
        other = SignalPlanner({})
        await other.reconfigure(remote("a"))
        await decided(other, call("a"))
        assert far.calls("none") == 2
        await planner.reconfigure(remote("b"))
        assert await decided(planner, call("b")) == ("decided-b", "b")
        assert far.calls("none") == 3
        await planner.reconfigure(remote("a"))
        assert await decided(planner, call("a")) == ("decided-a", "a")
        assert far.calls("none") == 4


async def test_what_calls_have_taken_is_known_under_the_next_policy(
    planner: SignalPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SRV-20, SCAN-9: measured speed is the process's, of a model that stays as it is"""
    given: list[Speed] = []

    async def route(*_: object, speeds: Speeds, config_version: str, **__: object) -> Outcome:
        given.append(speeds.of("primary"))
        return Outcome("default", config_version)

    monkeypatch.setattr("serve_app.deployments.planning.decider.route", route)
    for version in ("a", "b"):
        await planner.reconfigure(policy(version).user_config())
        await planner.plan(call(version))
    changed = policy("c")
    cards = {
        name: card.model_copy(update={"revision": "2"}) for name, card in changed.cards.items()
    }
    await planner.reconfigure(replace(changed, cards=cards).user_config())
    await planner.plan(call("c"))
    before, after, other = given
    assert before is after
    assert other is not after
