"""CFG-2, CFG-3: models, decision models and callers."""

from __future__ import annotations

import pytest

from serve_app.config.loading import load_text
from serve_app.config.problem import ConfigErrors
from tests.doubles.router_yaml import ROUTER, Mistake, changed, errors, mistake

DEPLOYMENT = "global.model_catalog.deployments.first"

CASES = [
    (
        "default_model: general",
        "default_model: genral",
        "providers.defaults.default_model",
        "no such",
        "general",
    ),
    (
        "callers: [ops]",
        "callers: [opps]",
        "global.router.headers.debug.callers[0]",
        "no such",
        "ops",
    ),
    ("{name: app,", "{name: ops,", "global.router.callers[1].name", "stands twice", None),
    (
        "api_key_env: APP_KEY",
        "api_key_env: OPS_KEY",
        "global.router.callers[1].api_key_env",
        "key stands twice",
        None,
    ),
    ("[jev-latest]", "[first]", f"{DEPLOYMENT}.aliases[0]", "decision model stands twice", None),
    (
        "{deployment: first}",
        "{deployment: frist}",
        "global.model_catalog.system.decision_model.deployment",
        "every rule",
        "first",
    ),
    (
        "artifact: embedded\n        aliases",
        "artifact: embeded\n        aliases",
        f"{DEPLOYMENT}.artifact",
        "known values",
        "embedded",
    ),
    ("device: cpu", "device: cuda", f"{DEPLOYMENT}.placement.device", "num_gpus above 0", None),
    (
        "http://127.0.0.1:9002",
        "http://u:p@127.0.0.1:9002",
        "providers.models[1].backends[0].base_url",
        "holds a user or a password",
        None,
    ),
    (
        "127.0.0.1:9002/v1",
        "127.0.0.1:9002/v1?key=1",
        "providers.models[1].backends[0].base_url",
        "query",
        None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_global_and_providers_name_exists_and_fits(case: Mistake) -> None:
    """CFG-2, CFG-3, S1-8, API-7, SRV-13"""
    mistake(case)


def test_a_deployment_whose_model_has_no_card_is_an_error() -> None:
    """S1-14"""
    with pytest.raises(ConfigErrors) as raised:
        load_text(ROUTER, "r", cards={}, environ={})
    assert {(p.path, p.message) for p in raised.value.problems} == {
        (f"global.model_catalog.deployments.{name}.artifact", "no model of this name has a card")
        for name in ("first", "second")
    }


def test_the_predeclared_deployment_exists_while_none_are_written() -> None:
    """CFG-3"""
    text = ROUTER[: ROUTER.index("  model_catalog:")].replace(
        "deployment: second", "deployment: primary"
    )
    assert errors(text) == ()
    found = errors(text.replace("deployment: primary", "deployment: primry"))
    assert {(p.nearest, p.allowed) for p in found} == {("primary", ("primary",))}


@pytest.mark.parametrize(
    "url",
    [
        "http://u:s3cret@127.0.0.1:9002/v1",
        "http://u:p@s3cret@127.0.0.1:9002/v1",
        "http://127.0.0.1:9002/v1?key=s3cret",
        "http://127.0.0.1:9002/v1#s3cret",
        "ftp://127.0.0.1:9002/v1?key=s3cret",
        "http://127.0.0.1:99999/v1?key=s3cret",
    ],
)
def test_a_secret_in_an_address_is_never_printed(url: str) -> None:
    """CFG-2"""
    text, _ = changed("http://127.0.0.1:9002/v1", url)
    (problem,) = errors(text)
    assert problem.path == "providers.models[1].backends[0].base_url"
    assert "s3cret" not in str(problem)
