"""CFG-1, SIG-1: what is legal but useless is a warning."""

from __future__ import annotations

import pytest

from serve_app.config.problem import Severity
from tests.doubles.router_yaml import ENVIRON, changed, loaded

R = "recipes[0]"
S = f"{R}.signals"
D = f"{R}.decisions"

# What stands in the file, what it becomes, the warning's path, a part of its message.
USELESS = [
    (
        "facts, predicate: {gte: 0.6",
        "facts}, {name: f2, predicate: {gte: 0.6",
        f"{S}.fact_check[1].name",
        "never asked",
    ),
    ("            - {type: context, name: long}\n", "", f"{S}.context[0].name", "never asked"),
    (
        "{type: projection, name: big}",
        "{type: keywords, name: shout}",
        f"{R}.projections.mappings[0].name",
        "no decision reads",
    ),
    (
        "        - name: effort\n",
        "        - {name: s, inputs: [{type: jailbreak, name: attack, weight: 1}]}\n"
        "        - name: effort\n",
        f"{R}.projections.scores[0].name",
        "no mapping reads",
    ),
    (
        "{name: big, gte: 1}",
        "{name: big, gte: 0.5}",
        f"{R}.projections.mappings[0].outputs[1]",
        "both hold from 0.5",
    ),
    (
        "      - name: rest\n",
        "      - {name: last, priority: -1, modelRefs: [{model: general}]}\n      - name: rest\n",
        f"{D}[3]",
        "rest takes",
    ),
    (
        "      - name: rest\n",
        "      - {name: last, modelRefs: [{model: general}]}\n      - name: rest\n",
        f"{D}[4]",
        "last takes",
    ),
    (
        "entrypoints:\n",
        "    - {name: m, backends: [{base_url: http://h}]}\nentrypoints:\n",
        "providers.models[2].name",
        "no decision names",
    ),
    (
        "  - {model_names: [cheap], recipe: frugal}\n",
        "",
        "recipes[1].name",
        "no entrypoint selects",
    ),
    ("description: Quick}", "weight: 2}", f"{D}[1].modelRefs[0].weight", "type: random"),
    (
        "{type: random}",
        "{type: random, timeout_ms: 5}",
        f"{D}[2].algorithm.timeout_ms",
        "asks a model",
    ),
    (
        "        modelRefs: [{model: general}]\n",
        "        modelRefs: [{model: general}]\n        fallback: true\n",
        f"{D}[3].fallback",
        "no second",
    ),
    (
        "status: 403}]",
        "status: 403}]\n        modelRefs: [{model: general}]",
        f"{D}[0].modelRefs",
        "no model is ever",
    ),
    ("{gt: 0.4}", "{gte: 0}", f"{S}.domains[0].predicate", "always holds"),
    (
        "num_cpus: 0.5",
        "num_gpus: 0.5",
        "global.model_catalog.deployments.first.placement.num_gpus",
        "idle",
    ),
]


def test_a_configuration_without_useless_parts_has_no_warnings() -> None:
    """CFG-1"""
    assert loaded().warnings == ()


@pytest.mark.parametrize(("old", "new", "path", "message"), USELESS)
def test_what_is_useless_is_one_warning(old: str, new: str, path: str, message: str) -> None:
    """CFG-1, SIG-1, DEC-1"""
    text, _ = changed(old, new)
    (warning,) = loaded(text).warnings
    assert (warning.severity, warning.path) == (Severity.WARNING, path)
    assert message in warning.message
    assert warning.line > 0


def test_a_recipe_that_may_match_nothing_says_what_then_happens() -> None:
    """DEC-2"""
    text, _ = changed("  defaults: {default_model: general}\n", "")
    text = text.replace("      - name: rest\n        modelRefs: [{model: general}]\n", "")
    (warning,) = loaded(text).warnings
    assert (warning.path, "no_decision" in warning.message) == (D, True)


def test_a_key_that_is_not_set_here_is_a_warning_alone() -> None:
    """CFG-2: it may be set on the cluster."""
    environ = dict(ENVIRON, OPS_KEY="")
    del environ["GENERAL_KEY"]
    assert [(w.path, w.line) for w in loaded(environ=environ).warnings] == [
        ("providers.models[0].backends[0].api_key_env", changed("api_key_env: GENERAL_KEY", "")[1]),
        ("global.router.callers[0].api_key_env", changed("api_key_env: OPS_KEY", "")[1]),
    ]


def test_warnings_do_not_change_the_version() -> None:
    """CFG-10"""
    assert loaded(environ={}).version == loaded().version
