"""``try``: CFG-1, API-6, API-9, COST-1."""

from __future__ import annotations

import pytest
import typer

from models.cards.schema import Card
from models.engine import Engine
from serve_app.commands.try_prompt import message_of, outcome_of
from serve_app.config.loading import Loaded, load_text
from serve_app.config.schema.catalog import Placement
from tests.doubles.engines import CARD, FixedTimeEngine

ROUTER = """
version: v1
providers:
  models:
    - {name: general, backends: [{base_url: "http://127.0.0.1:9/v1"}]}
entrypoints:
  - {model_names: [auto], recipe: guarded}
  - {model_names: [plain, simple], recipe: plain}
recipes:
  - name: guarded
    signals:
      jailbreak: [{name: attack, predicate: {gte: 0}}]
    decisions:
      - name: all
        rules: {conditions: [{type: jailbreak, name: attack}]}
        modelRefs: [{model: general}]
  - name: plain
    decisions:
      - {name: rest, modelRefs: [{model: general}]}
"""


class Loading:
    """Loads engines for tests, and counts them."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def __call__(self, card: Card, placement: Placement) -> Engine:
        self.loaded.append(card.name)
        return FixedTimeEngine(0)


def loaded() -> Loaded:
    return load_text(ROUTER, "router.yaml", cards={"embedded": CARD}, environ={})


def test_a_prompt_is_decided_by_an_engine_of_this_process() -> None:
    engines = Loading()
    outcome = outcome_of(loaded(), "Hello", None, {"embedded": CARD}, engines)
    assert (outcome.recipe, outcome.decision, outcome.models) == ("guarded", "all", ("general",))
    assert outcome.config_version == loaded().version
    assert [call.deployment for call in outcome.calls] == ["primary"]
    assert outcome.decisions[0].tree.children[0].condition == "jailbreak:attack"
    assert engines.loaded == ["fixed"]


def test_an_entrypoint_is_named_by_any_of_its_model_names() -> None:
    """No engine is loaded for a recipe that asks nothing."""
    engines = Loading()
    outcome = outcome_of(loaded(), "Hello", "simple", {"embedded": CARD}, engines)
    assert (outcome.recipe, outcome.calls, engines.loaded) == ("plain", (), [])


def test_an_unknown_entrypoint_is_told_with_those_that_exist() -> None:
    with pytest.raises(typer.BadParameter, match="known: auto, plain, simple"):
        outcome_of(loaded(), "Hello", "nobody", {"embedded": CARD}, Loading())


def test_tokens_are_estimated_at_four_bytes_each() -> None:
    """API-6"""
    assert [message_of(text).tokens for text in ("", "abcd", "abcde", "漢字")] == [0, 1, 2, 2]
    assert message_of("x").counts.user == 1
