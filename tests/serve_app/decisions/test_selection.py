"""Which model answers: CFG-8, SEL-1, SEL-2, API-6."""

from __future__ import annotations

from typing import Any

import pytest

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    QuestionType,
)
from serve_app.errors import Code
from serve_app.message import Message
from tests.doubles.recipes import card, compiled, deployments, routed
from tests.doubles.scripted_ask import ScriptedAsk


def recipe(*models: Any, algorithm: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    refs = [model if isinstance(model, dict) else {"model": model} for model in models]
    return {
        "decisions": [
            {"name": "all", "modelRefs": refs, "algorithm": algorithm or {}, **fields},
        ]
    }


SYSTEMONE = {"type": "systemone"}


async def test_static_takes_the_first() -> None:
    outcome = await routed(compiled(recipe("small", "large")), ScriptedAsk())
    assert (outcome.models, outcome.algorithm, outcome.ranking) == (("small",), "static", ())


async def test_with_fallback_the_others_follow_in_the_files_order() -> None:
    """API-5"""
    outcome = await routed(
        compiled(recipe("small", "large", "endless", fallback=True)), ScriptedAsk()
    )
    assert outcome.models == ("small", "large", "endless")
    assert outcome.fallback


@pytest.mark.parametrize(
    ("draw", "model"),
    [(0.0, "small"), (0.249, "small"), (0.25, "large"), (0.999, "large")],
)
async def test_random_draws_by_weight(draw: float, model: str) -> None:
    refs = [{"model": "small", "weight": 1}, {"model": "large", "weight": 3}]
    known = compiled(recipe(*refs, algorithm={"type": "random"}, fallback=True))
    outcome = await routed(known, ScriptedAsk(), draw=draw)
    assert outcome.models[0] == model
    assert sorted(outcome.models) == ["large", "small"]


async def test_candidates_that_the_prompt_does_not_fit_are_skipped() -> None:
    """API-6: the window itself still fits."""
    known = compiled(recipe("small", "large", fallback=True))
    assert (await routed(known, ScriptedAsk(), Message("x", tokens=1000))).models[0] == "small"
    assert (await routed(known, ScriptedAsk(), Message("x", tokens=1001))).models == ("large",)


@pytest.mark.parametrize("default_model", [None, "small"])
async def test_a_prompt_longer_than_every_window_is_refused(default_model: str | None) -> None:
    """API-6, of a decision's candidates and of the default model."""
    known = recipe("small", "large") if default_model is None else {}
    outcome = await routed(
        compiled(known, default_model=default_model), ScriptedAsk(), Message("x", tokens=10_001)
    )
    assert outcome.refused is not None
    assert outcome.refused.code is Code.CONTEXT_LENGTH_EXCEEDED
    assert outcome.models == ()


async def test_the_selector_asks_one_choice_over_the_candidates() -> None:
    """SEL-1, SIG-6: keys are models; descriptions the reference's, else the model's."""
    refs = [{"model": "small", "description": "For routine code"}, "large", "endless"]
    ask = ScriptedAsk({"selector": {"small": 0.2, "large": 0.7, "endless": 0.1}})
    known = compiled(recipe(*refs, algorithm=SYSTEMONE, fallback=True))
    outcome = await routed(known, ask, "Refactor this module.")
    (call,) = ask.calls
    ((name, entry),) = call.entries.items()
    ((id, question),) = entry.questions.items()
    assert (name, entry.state, id) == ("1", {"request": "Refactor this module."}, "selector")
    assert question.type is QuestionType.CHOICE
    assert question.instructions == "Which model should answer this request?"
    assert [(o.key, o.text) for o in question.options] == [
        ("small", "For routine code"),
        ("large", "Strong"),
        ("endless", None),
    ]
    assert outcome.models == ("large", "small", "endless")
    assert outcome.ranking == (("large", 0.7), ("small", 0.2), ("endless", 0.1))
    assert outcome.algorithm == "systemone"
    assert [(c.stage, c.form) for c in outcome.calls] == [("selector", "standard")]
    assert set(outcome.stage_ms) == {"signals", "selector"}


async def test_one_candidate_is_not_asked_about() -> None:
    """SEL-1, COST-1: also when only one fits the prompt."""
    ask = ScriptedAsk()
    known = compiled(recipe("small", "large", algorithm=SYSTEMONE))
    outcome = await routed(known, ask, Message("x", tokens=2000))
    assert (outcome.models, ask.calls) == (("large",), [])


KEYS = ("small", "large")
FAILURES: list[Answer] = [
    *(ErrorAnswer(error) for error in AnswerError),
    NoulAnswer(0.9),
    ChoiceAnswer(KEYS, (float("nan"), 0.5)),
    ChoiceAnswer(("large", "small"), (0.9, 0.1)),
    ChoiceAnswer(KEYS, (0.9, 0.9)),
]


@pytest.mark.parametrize("answer", FAILURES, ids=str)
async def test_the_first_model_answers_when_the_selector_does_not(answer: Answer) -> None:
    """SEL-2"""
    known = compiled(recipe("small", "large", algorithm=SYSTEMONE, fallback=True))
    outcome = await routed(known, ScriptedAsk({"selector": answer}))
    assert (outcome.models, outcome.ranking, outcome.refused) == (KEYS, (), None)
    assert len(outcome.calls) == 1


async def test_equal_scores_keep_the_files_order() -> None:
    known = compiled(recipe("small", "large", algorithm=SYSTEMONE, fallback=True))
    outcome = await routed(known, ScriptedAsk({"selector": {"small": 0.5, "large": 0.5}}))
    assert outcome.models == KEYS


@pytest.mark.parametrize(
    ("algorithm", "fields", "deadline_s", "expected"),
    [
        ({}, {}, None, 1.0),
        ({}, {"timeout_ms": 300}, None, 0.3),
        ({"timeout_ms": 200}, {"timeout_ms": 300}, None, 0.2),
        ({}, {}, 0.5, 0.5),
    ],
)
async def test_how_long_the_selector_is_waited_for(
    algorithm: dict[str, Any], fields: dict[str, Any], deadline_s: float | None, expected: float
) -> None:
    """BUD-3: its own bound, else its deployment's, else a second; never past the request's."""
    catalog = deployments("primary", "other", **fields)
    known = compiled(
        recipe("small", "large", algorithm=SYSTEMONE | {"deployment": "other"} | algorithm),
        catalog=catalog,
        cards={"other": card(trained_ids={"selector": "route"})},
    )
    ask = ScriptedAsk({"route": "large"})
    outcome = await routed(known, ask, deadline_s=deadline_s)
    assert (ask.calls[0].deployment, ask.calls[0].timeout_s) == ("other", expected)
    assert outcome.models == ("large",)
