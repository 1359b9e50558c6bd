"""CFG-1: names stand once, and entrypoints lead somewhere."""

from __future__ import annotations

import pytest

from tests.doubles.router_yaml import Mistake, errors, mistake

S = "recipes[0].signals"
D = "recipes[0].decisions"
R = "recipes[0]"

CASES = [
    (
        "    - {name: reasoner,",
        "    - {name: general, backends: [{base_url: http://h}]}\n    - {name: reasoner,",
        "providers.models[1].name",
        "twice, first on line 5",
        None,
    ),
    ("auto, best]", "auto, auto]", "entrypoints[0].model_names[1]", "stands twice", None),
    ("[cheap]", "[best]", "entrypoints[1].model_names[0]", "twice, first on line 17", None),
    ("[cheap]", "[reasoner]", "entrypoints[1].model_names[0]", "name of a provider model", None),
    ("recipe: frugal", "recipe: fruga", "entrypoints[1].recipe", "no such recipe", "frugal"),
    ("recipe: frugal", "recipe: thrifty", "entrypoints[1].recipe", "no such recipe", None),
    (
        "  - name: frugal",
        "  - {name: default}\n  - name: frugal",
        "recipes[1].name",
        "twice, first on line 20",
        None,
    ),
    ("[{name: harm},", "[{name: harm}, {name: harm},", f"{S}.safety[1].name", "safety rule", None),
    (
        "[{name: team,",
        "[{name: team, key: x}, {name: team,",
        f"{S}.metadata[1].name",
        "twice",
        None,
    ),
    ("name: mixed", "name: chosen", f"{D}[2].name", "decision stands twice", None),
    (
        "{name: big,",
        "{name: small, gte: 9}, {name: big,",
        f"{R}.projections.mappings[0].outputs[1].name",
        "output stands twice",
        None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_names_stand_once_and_lead_somewhere(case: Mistake) -> None:
    """CFG-1, API-4"""
    mistake(case)


@pytest.mark.parametrize("key", ["entrypoints", "recipes"])
def test_a_router_has_an_entrypoint_and_a_recipe(key: str) -> None:
    """CFG-1"""
    document = {"entrypoints": "[{model_names: [a], recipe: r}]", "recipes": "[{name: r}]"}
    document[key] = "[]"
    text = "version: v1\n" + "".join(f"{name}: {value}\n" for name, value in document.items())
    assert f"needs at least one of the {key}" in [problem.message for problem in errors(text)]
