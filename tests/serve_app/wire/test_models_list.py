"""What ``GET /v1/models`` lists: S1-8."""

from __future__ import annotations

from typing import Any

import pytest

from serve_app.config.schema.document import Config
from serve_app.wire.models_list import decision_names, models_body
from tests.doubles.recipes import card, config

LOCAL = {"provider": "model_runtime", "artifact": "embedded"}


def names(deployment: str, catalog: dict[str, Any]) -> list[str]:
    return list(decision_names(config({}, catalog=catalog), deployment, card()))


def test_the_default_deployment_keeps_its_names_when_it_is_written_out() -> None:
    """CFG-3, S1-8"""
    expected = ["scripted", "primary", "jev-latest", "jev-preview"]
    assert names("primary", {}) == expected
    assert names("primary", {"deployments": {"primary": LOCAL}}) == expected


@pytest.mark.parametrize(
    ("written", "expected"), [([], []), (["mine"], ["mine"]), (["jev-latest"], ["jev-latest"])]
)
def test_aliases_that_are_written_stand_in_the_place_of_the_default(
    written: list[str], expected: list[str]
) -> None:
    """CFG-3, S1-8: an empty list turns them off."""
    catalog = {"deployments": {"primary": {**LOCAL, "aliases": written}}}
    assert names("primary", catalog) == ["scripted", "primary", *expected]


@pytest.mark.parametrize(
    "others", [{"b": {**LOCAL, "aliases": ["jev-latest"]}}, {"jev-latest": LOCAL}]
)
def test_the_default_aliases_yield_to_a_deployment_that_has_the_name(
    others: dict[str, Any],
) -> None:
    """CFG-3, S1-8"""
    catalog = {"deployments": {"primary": LOCAL, **others}}
    assert names("primary", catalog) == ["scripted", "primary", "jev-preview"]
    assert "jev-latest" in names(next(iter(others)), catalog)


def test_the_default_aliases_are_those_of_the_systems_model() -> None:
    """CFG-3, S1-8"""
    catalog = {
        "system": {"decision_model": {"deployment": "b"}},
        "deployments": {"a": LOCAL, "b": LOCAL},
    }
    assert names("a", catalog) == ["scripted", "a"]
    assert names("b", catalog) == ["scripted", "b", "jev-latest", "jev-preview"]


def test_prices_that_are_written_stand_at_their_chat_model() -> None:
    """CFG-1, S1-8"""
    document = config({}).model_dump(by_alias=True, exclude_unset=True, mode="json")
    document["providers"]["models"][0]["pricing"] = {"prompt_per_1m": 0.1}
    body = models_body(Config.model_validate(document), {"primary": card()})
    prices = {entry["id"]: entry.get("pricing") for entry in body["data"]}
    assert prices.pop("small") == {"prompt_per_1m": 0.1, "completion_per_1m": 0.0}
    assert set(prices.values()) == {None}
