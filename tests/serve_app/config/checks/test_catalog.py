"""CFG-2, CFG-3: models, decision models and callers."""

from __future__ import annotations

import pytest

from models.questions.types import QuestionType
from serve_app.config.cards import card_of, cards_of
from serve_app.config.loading import load_text
from serve_app.config.problem import ConfigErrors
from serve_app.wire.models_list import decision_names
from tests.doubles.cards import ABLE
from tests.doubles.router_yaml import ENVIRON, ROUTER, Mistake, changed, errors, loaded, mistake

DEPLOYMENT = "global.model_catalog.deployments.first"
FAR = "global.model_catalog.deployments.far"

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
    (
        "http://127.0.0.1:9004",
        "http://u:p@127.0.0.1:9004",
        f"{FAR}.endpoint",
        "holds a user or a password",
        None,
    ),
    (
        "9004/v1/systemone",
        "9004/v1/systemone?key=1",
        f"{FAR}.endpoint",
        "it is the URL that takes the calls",
        None,
    ),
    ("9004/v1/systemone", "9004/#there", f"{FAR}.endpoint", "a query or a fragment", None),
    ("[distant]", "[second]", f"{FAR}.aliases[0]", "decision model stands twice", None),
    ("[distant]", "[jev-latest]", f"{FAR}.aliases[0]", "decision model stands twice", None),
    ("[distant]", "[able]", f"{FAR}.aliases[0]", "also the name of first's model", None),
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
    text = ROUTER[: ROUTER.index("  model_catalog:")]
    for name in ("second", "far"):
        text = text.replace(f"deployment: {name}", "deployment: primary")
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
@pytest.mark.parametrize(
    ("old", "path"),
    [
        ("http://127.0.0.1:9002/v1", "providers.models[1].backends[0].base_url"),
        ("http://127.0.0.1:9004/v1/systemone", f"{FAR}.endpoint"),
    ],
)
def test_a_secret_in_an_address_is_never_printed(old: str, path: str, url: str) -> None:
    """CFG-2"""
    text, _ = changed(old, url)
    (problem,) = errors(text)
    assert problem.path == path
    assert "s3cret" not in str(problem)


def endpoint(url: str) -> str:
    text, _ = changed("http://127.0.0.1:9004/v1/systemone", url)
    return str(loaded(text).config.global_.model_catalog.remote["far"].endpoint)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("http://127.0.0.1:9004", "http://127.0.0.1:9004/v1/systemone"),
        ("https://one.example/", "https://one.example/v1/systemone"),
        ("https://one.example/v1/systemone", "https://one.example/v1/systemone"),
        ("https://one.example/v1/decisions/", "https://one.example/v1/decisions/"),
        ("https://one.example/v1", "https://one.example/v1"),
    ],
)
def test_an_endpoint_without_a_path_is_given_that_of_the_api(written: str, asked: str) -> None:
    """CFG-3: any other URL is taken as it stands."""
    assert endpoint(written) == endpoint(asked) == asked


def test_what_a_remote_model_makes_likely_wrong_is_a_warning() -> None:
    """CFG-1, CFG-2, CFG-3"""
    text, line = changed("127.0.0.1:9004/v1/systemone", "127.0.0.1:9004/v1/")
    environ = {name: value for name, value in ENVIRON.items() if name != "FAR_KEY"}
    found = [(p.line, p.path, p.message) for p in loaded(text, environ=environ).warnings]
    assert found == [
        (
            line,
            f"{FAR}.endpoint",
            "calls are sent to this very URL; an API takes them at /v1/systemone",
        ),
        (line + 2, f"{FAR}.api_key_env", "the environment here does not set FAR_KEY"),
    ]


def test_remotes_that_call_their_models_alike_keep_names_of_their_own() -> None:
    """CFG-3, S1-8: what an API calls its model is no name here, so it may also be an alias."""
    again = "second: {provider: systemone, endpoint: http://h, model: jev-latest}"
    text, _ = changed("second: {provider: model_runtime, artifact: embedded}", again)
    config = loaded(text.replace("model: jev-1.0", "model: jev-latest")).config
    cards = cards_of(config.global_.model_catalog, {"embedded": ABLE})
    names = [name for key, card in cards.items() for name in decision_names(config, key, card)]
    assert names == ["able", "first", "jev-latest", "second", "far", "distant"]


def test_a_remote_model_is_asked_every_type_of_question_about_text_of_any_length() -> None:
    """CFG-5, S1-14"""
    text, _ = changed("pii: [{name: personal,", "pii: [{name: personal, deployment: far,")
    assert errors(text) == ()
    card = card_of("far", loaded().config.global_.model_catalog.deployments["far"], {})
    assert card.question_types == frozenset(QuestionType)
    assert (card.thresholds, card.trained_ids, card.calibrated) == ({}, {}, False)
    text, _ = changed("modality: [{name: wanted,", "modality: [{name: wanted, deployment: far,")
    (problem,) = errors(text)
    assert problem.message == "far reads text only"


@pytest.mark.parametrize(
    ("api_format", "url", "warned"),
    [
        ("anthropic", "https://api.anthropic.com", True),
        ("anthropic", "https://api.anthropic.com/", True),
        ("anthropic", "https://api.anthropic.com/v1", False),
        ("openai", "https://one.example", False),
        ("responses", "https://one.example/v1", False),
    ],
)
def test_an_address_of_messages_without_a_path_is_a_warning(
    api_format: str, url: str, warned: bool
) -> None:
    """CFG-3: Anthropic's own clients are configured with such"""
    spoken = f'reasoner, api_format: {api_format}, backends: [{{base_url: "{url}"}}]'
    text, _ = changed('reasoner, backends: [{base_url: "http://127.0.0.1:9002/v1"}]', spoken)
    found = [problem.path for problem in loaded(text).warnings]
    assert found == (["providers.models[1].backends[0].base_url"] if warned else [])
