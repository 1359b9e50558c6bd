"""Ingress's side of the request stage: planners that lack a version, that die, that are full."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ray.exceptions import RayActorError
from ray.serve.exceptions import BackPressureError

from serve_app.deployments.asking.handles import UPDATE_S
from serve_app.deployments.graph import DESCRIPTION_S, TEACH_AFTER_S, Graph
from serve_app.deployments.planning.call import NotPlanned
from serve_app.errors import Code, RouterError
from serve_app.message import Message
from serve_app.outcome import Outcome
from tests.doubles.handles import SILENCE, ScriptedHandle
from tests.doubles.policies import policy

PLANNED = Outcome("default", "a", decision="decided-a")


def graph(*outcomes: object) -> tuple[Graph, ScriptedHandle]:
    planner = ScriptedHandle(*outcomes)
    handle: Any = planner
    model: Any = ScriptedHandle(SILENCE, SILENCE)
    return Graph(policy("a"), handle, {"primary": model}), planner


async def planned(graph: Graph) -> Outcome:
    return await graph.plan(Message("hello"), "default", None, explain=False)


async def test_a_planner_that_lacks_the_version_is_sent_it() -> None:
    """CFG-10: planners and Ingress change in any order"""
    asker, planner = graph(NotPlanned(), PLANNED)
    assert await planned(asker) == PLANNED
    first, second = planner.calls
    assert first.version == second.version == "a"
    assert first.user_config is None
    assert second.user_config == policy("a").user_config()
    assert second.message == first.message


async def test_a_planner_that_knows_the_version_is_sent_no_policy() -> None:
    """CFG-10"""
    asker, planner = graph(PLANNED)
    await planned(asker)
    assert [call.user_config for call in planner.calls] == [None]


@pytest.mark.looptime
async def test_planners_of_an_older_graph_are_given_time_to_go() -> None:
    """CFG-10: they have no handle of a model that was added"""
    asker, _ = graph(*[NotPlanned()] * len(TEACH_AFTER_S), PLANNED)
    assert await planned(asker) == PLANNED
    asker, _ = graph(*[NotPlanned()] * (len(TEACH_AFTER_S) + 1))
    with pytest.raises(RouterError) as raised:
        await planned(asker)
    assert raised.value.code is Code.NOT_READY


async def test_a_request_whose_planner_died_is_planned_once_more() -> None:
    """SRV-18: deciding has no side effect"""
    asker, _ = graph(RayActorError(), PLANNED)
    assert await planned(asker) == PLANNED
    asker, _ = graph(RayActorError(), RayActorError())
    with pytest.raises(RouterError) as raised:
        await planned(asker)
    assert raised.value.code is Code.NOT_READY


async def test_planners_without_room_are_asked_once() -> None:
    """SRV-8"""
    asker, planner = graph(BackPressureError(1, 1))
    with pytest.raises(RouterError) as raised:
        await planned(asker)
    assert raised.value.code is Code.OVERLOADED
    assert len(planner.calls) == 1


@pytest.mark.looptime
async def test_a_replica_that_takes_a_new_policy_is_ready() -> None:
    """CFG-10: it is off Serve's list for a moment, and goes on answering"""
    asker, planner = graph()
    planner.ready = False
    looked = asyncio.create_task(asker.readiness())
    await asyncio.sleep(UPDATE_S / 2)
    planner.ready = True
    assert (await looked)["SignalPlanner"].ready


@pytest.mark.looptime
async def test_what_does_not_run_is_told_soon() -> None:
    """CFG-10"""
    asker, planner = graph()
    planner.ready = False
    began = asyncio.get_running_loop().time()
    assert not (await asker.readiness())["SignalPlanner"].ready
    assert asyncio.get_running_loop().time() - began <= UPDATE_S + DESCRIPTION_S
