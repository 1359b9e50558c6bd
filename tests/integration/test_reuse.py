"""What a replica need not compute: equal questions in flight and answers it has kept.

SRV-10, CACHE-1, CACHE-3
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import count
from typing import Any

import pytest

from models.engine import Row
from models.questions.types import NoulAnswer, Question, QuestionType
from models.scheduling.messages import ModelCall, ModelReply
from models.scheduling.stats import Counts
from serve_app.config.schema.catalog import LocalDeployment
from serve_app.deployments.asking.handles import method
from serve_app.deployments.asking.model_client import ask_model
from serve_app.deployments.placement.model_spec import (
    RESULT_CACHE_VARIABLE,
    ModelSpec,
    deployment_options,
)
from tests.doubles.deployments import RecordedModel
from tests.doubles.engines import RecordingEngine, probability

pytestmark = [pytest.mark.serve, pytest.mark.timeout(240)]

QUESTION = Question(QuestionType.NOUL, "Is it?")
CATALOG = LocalDeployment(provider="model_runtime", artifact="embedded")
states = (f"state {number}" for number in count())


def deployed(name: str, *, cache: str | None, seconds: float = 0.0, revision: str = "1") -> Any:
    from ray import serve

    environ = {} if cache is None else {RESULT_CACHE_VARIABLE: cache}
    options = deployment_options(CATALOG) | {"name": name}
    load = partial(RecordingEngine, seconds, revision=revision)
    settings = ModelSpec.of(CATALOG).settings(environ)
    bound = serve.deployment(RecordedModel, **options).bind(load, settings)
    return serve.run(bound, name=name, route_prefix=None)


async def ask(model: Any, state: str, question: Question = QUESTION) -> None:
    call = ModelCall((Row(state, (question,)),))
    reply = await ask_model(method(model, "answer"), call, 30.0)
    assert isinstance(reply, ModelReply)
    assert reply.answers == ((NoulAnswer(probability(state, question)),),)


async def counts(model: Any) -> Counts:
    found = (await model.stats.remote()).counts
    assert isinstance(found, Counts)
    return found


@pytest.mark.parametrize("cache", [None, "0"], ids=["cache", "no cache"])
async def test_a_hundred_equal_questions_at_once_cost_one_row(
    ray_serve: None, cache: str | None
) -> None:
    """SRV-10: without the cache too. The forward outlasts their arrival."""
    model = deployed("hundred", cache=cache, seconds=1.0)
    state = next(states)
    await asyncio.gather(*(ask(model, state) for _ in range(100)))
    found = await counts(model)
    assert (found.calls, found.forwards, found.rows) == (100, 1, 1)
    assert found.shared + found.cached == 99


async def test_a_repeated_question_costs_nothing_and_a_changed_one_does(ray_serve: None) -> None:
    """CACHE-1, CACHE-3: neither a threshold nor a name of it is part of it"""
    model = deployed("repeated", cache=None)
    state = next(states)
    await ask(model, state)
    await ask(model, state)
    await ask(model, state, Question(QuestionType.NOUL, "Is it?", threshold=0.9))
    assert (await counts(model)).rows == 1
    await ask(model, state, Question(QuestionType.NOUL, "Is it so?"))
    assert (await counts(model)).rows == 2


async def test_without_a_cache_a_repeated_question_costs_a_forward(ray_serve: None) -> None:
    """CACHE-1"""
    model = deployed("uncached", cache="0")
    state = next(states)
    for _ in range(3):
        await ask(model, state)
    assert (await counts(model)).forwards == 3


async def test_the_variable_bounds_the_cache(ray_serve: None) -> None:
    """CACHE-1"""
    model = deployed("bounded", cache="2")
    first, second, third = (next(states) for _ in range(3))
    for state in (first, second, third, third, second):
        await ask(model, state)
    assert (await counts(model)).rows == 3
    await ask(model, first)
    assert (await counts(model)).rows == 4


async def test_another_revision_of_the_model_answers_by_itself(ray_serve: None) -> None:
    """CACHE-1: what the older one answered is not given"""
    state = next(states)
    for revision in ("1", "2"):
        model = deployed("revised", cache=None, revision=revision)
        await ask(model, state)
        assert (await model.describe.remote()).revision == revision
        assert (await counts(model)).rows == 1
