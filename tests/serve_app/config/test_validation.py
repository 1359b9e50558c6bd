"""CFG-1: the form of a configuration; one mistake is one error, with line, path and advice."""

from __future__ import annotations

import pytest

from serve_app.config.schema.catalog import RemoteDeployment
from tests.doubles.router_yaml import ROUTER, Mistake, changed, errors, mistake

R = "recipes[0]"
D = f"{R}.decisions[1]"
NESTED = f"{D}.rules.conditions[1].conditions[2]"
DEPLOYMENTS = "global.model_catalog.deployments"
FIRST = f"{DEPLOYMENTS}.first"
HALF = "0 to less than half a window of 8192 tokens"
TO_MOST = "scan_window.tokens, 8192, to 1048576"
BACKEND = "providers.models[0].backends[0]"

# What stands in the file, what it becomes, the error's path, a part of its message, its nearest
# known name. The error is on the line where the change begins.
MISTAKES = [
    ("version: v1", "version: v2", "version", "known values", None),
    ("version: v1", "", "", "version is missing", None),
    ("defaults: {default", "defualts: {default", "providers.defualts", "unknown key", "defaults"),
    (
        "context_window: 32768",
        "context_window: 0",
        "providers.models[0].context_window",
        "out of range: 1 or more",
        None,
    ),
    (
        "context_window: 32768",
        "context_window: 1.5",
        "providers.models[0].context_window",
        "must be a whole number",
        None,
    ),
    (
        "context_window: 32768",
        "context_window: '32768'",
        "providers.models[0].context_window",
        "take it out of its quotes",
        None,
    ),
    (
        "context_window: 32768",
        "context_window: ${GENERAL_KEY}",
        "providers.models[0].context_window",
        "a variable always gives a string",
        None,
    ),
    (
        "timeout_ms: 60000",
        "timeout_ms: 4000000",
        "providers.models[0].backends[1].timeout_ms",
        "out of range: 1 to 3600000",
        None,
    ),
    ("GENERAL_KEY, weight: 1", "GENERAL_KEY, weight: 0", f"{BACKEND}.weight", "more than 0", None),
    ("GENERAL_KEY, weight: 1", "GENERAL_KEY, weight: .inf", f"{BACKEND}.weight", "finite", None),
    ("api_key_env: GENERAL_KEY", "api_key_env: sk-1", f"{BACKEND}.api_key_env", "name of an", None),
    (
        "api_key_env: GENERAL_KEY",
        "api_key: sk-1",
        f"{BACKEND}.api_key",
        "a secret stays in an environment variable",
        "api_key_env",
    ),
    (
        '"http://127.0.0.1:9002/v1"',
        "127.0.0.1:9002",
        "providers.models[1].backends[0].base_url",
        "http:// or https://",
        None,
    ),
    (
        "output: [text]\n      pricing",
        "output: text\n      pricing",
        "providers.models[0].output",
        "must be a list: write [ ] around it",
        None,
    ),
    (
        "output: [text]\n      pricing",
        "output: [txt]\n      pricing",
        "providers.models[0].output[0]",
        "known values",
        "text",
    ),
    (
        "output: [text]\n      pricing",
        "output: []\n      pricing",
        "providers.models[0].output",
        "must not be empty",
        None,
    ),
    (
        "provider_model_id: qwen3-8b",
        "provider_model_id: 8",
        "providers.models[0].provider_model_id",
        "must be a string: put it in quotes",
        None,
    ),
    ("recipe: frugal}", "recipe: [frugal]}", "entrypoints[1].recipe", "must be a string", None),
    ("domains: [", "domain: [", f"{R}.signals.domain", "unknown key", "domains"),
    ("[{name: attack,", "[{nmae: attack,", f"{R}.signals.jailbreak[0].nmae", "unknown key", "name"),
    ("[{name: attack,", "[{", f"{R}.signals.jailbreak[0]", "name is missing", None),
    ("[{name: attack,", "[{name: a b,", f"{R}.signals.jailbreak[0].name", "no blanks", None),
    (
        "[{name: difficulty, deployment: second}]",
        "[difficulty]",
        f"{R}.signals.complexity[0]",
        "must be a mapping",
        None,
    ),
    (
        "complexity: [{name: difficulty, deployment: second}]",
        "complexity: difficulty",
        f"{R}.signals.complexity",
        "must be a list",
        None,
    ),
    ("[{name: difficulty, deployment: second}]", "", f"{R}.signals.complexity", "is empty", None),
    (
        "on_unknown: no_match",
        "on_unknown: nomatch",
        f"{R}.signals.jailbreak[0].on_unknown",
        "known values",
        "no_match",
    ),
    (
        "timeout_ms: 500",
        "timeout_ms: 60001",
        f"{R}.signals.jailbreak[0].timeout_ms",
        "out of range: 1 to 60000",
        None,
    ),
    (
        "on_unknown: no_match",
        "min_coverage: 1.5",
        f"{R}.signals.jailbreak[0].min_coverage",
        "out of range: 0 to 1",
        None,
    ),
    ("history: true", "history: yes", f"{R}.signals.pii[0].input.history", "true or false", None),
    ("count: user", "count: users", f"{R}.signals.conversation[0].count", "known values", "user"),
    ("count: user, ", "", f"{R}.signals.conversation[0]", "count is missing", None),
    ("small, lt: 1", "small, lt: a", f"{R}.projections.mappings[0].outputs[0].lt", "number", None),
    ("priority: 500", "priority: high", f"{D}.priority", "must be a whole number", None),
    ("priority: 500", "budget: {max_calls: 2}", f"{D}.budget", "unknown key", None),
    (
        "conditions: [{type: keywords, name: shout}]",
        "conditions: [shout]",
        f"{NESTED}.conditions[0]",
        "must be a mapping",
        None,
    ),
    (
        "conditions: [{type: keywords, name: shout}]",
        "conditions: [{}]",
        f"{NESTED}.conditions[0]",
        "type and name are missing",
        None,
    ),
    (
        "conditions: [{type: keywords, name: shout}]",
        "conditons: [{type: keywords, name: shout}]",
        f"{NESTED}.conditons",
        "unknown key",
        "conditions",
    ),
    ("operator: NOT", "operator: NO", f"{NESTED}.operator", "known values", "NOT"),
    (
        "{type: projection, name: big}",
        "{type: projection, name: big, operator: OR}",
        f"{D}.rules.conditions[1].conditions[1].operator",
        "unknown key",
        "operator",
    ),
    (
        "{type: systemone, dep",
        "{type: system_one, dep",
        f"{D}.algorithm.type",
        "known",
        "systemone",
    ),
    (
        "type: fast_response,",
        "type: masking, rules: [personal],",
        f"{R}.decisions[0].plugins[0].type",
        "known values",
        None,
    ),
    ("status: 403", "status: 404", f"{R}.decisions[0].plugins[0].status", "known values", None),
    (
        "second: {provider: model_runtime, artifact: embedded}",
        "second: {provider: systemon, endpoint: http://h, model: y}",
        f"{DEPLOYMENTS}.second.provider",
        "known values",
        "systemone",
    ),
    (
        "second: {provider: model_runtime, artifact: embedded}",
        "second: {endpoint: http://h, model: y}",
        f"{DEPLOYMENTS}.second",
        "provider is missing",
        None,
    ),
    (
        "{provider: model_runtime, artifact: embedded}",
        "{provider: model_runtime, artifact: embedded, endpoint: http://h}",
        f"{DEPLOYMENTS}.second.endpoint",
        "unknown key here; it is one of provider: systemone",
        None,
    ),
    (
        "model: jev-1.0",
        "placement: {}\n        model: jev-1.0",
        f"{DEPLOYMENTS}.far.placement",
        "unknown key here; it is one of provider: model_runtime",
        None,
    ),
    (
        "second: {provider: model_runtime, artifact: embedded}",
        "second: {provider: systemone}",
        f"{DEPLOYMENTS}.second",
        "endpoint and model are missing",
        None,
    ),
    (
        "timeout_ms: 400",
        "validated_input_tokens: 1279",
        f"{DEPLOYMENTS}.far.validated_input_tokens",
        "out of range: 1280 to 2147483647",
        None,
    ),
    (
        "http://127.0.0.1:9004/v1/systemone",
        "ftp://127.0.0.1/",
        f"{DEPLOYMENTS}.far.endpoint",
        "http:// or https://",
        None,
    ),
    (
        "api_key_env: FAR_KEY",
        "api_key: sk-1",
        f"{DEPLOYMENTS}.far.api_key",
        "a secret stays in an environment variable",
        "api_key_env",
    ),
    ("  second: {", "  my model: {", f'{DEPLOYMENTS}["my model"]', "no blanks", None),
    (
        "coverage: full",
        "coverage: some",
        f"{R}.signals.systemone[3].coverage",
        "known values",
        None,
    ),
    ("max_queue_s: 5", "max_queue_s: 0", f"{DEPLOYMENTS}.first.max_queue_s", "more than 0", None),
    *(
        ("max_queue_s: 5", f"{key}: {{{field}: {value}}}", f"{FIRST}.{key}.{field}", range, None)
        for key, field, value, range in (
            ("routing_view", "max_tokens", "255", "out of range: 256 to 1048576"),
            ("routing_view", "head_share", "1.1", "out of range: 0 to 1"),
            ("scan_window", "tokens", "1048577", "out of range: 256 to 1048576"),
            ("scan_window", "overlap", "-1", f"out of range: {HALF}"),
            ("scan_window", "overlap", "4096", f"out of range: {HALF}"),
            ("scan_window", "max_parallel", "65", "out of range: 1 to 64"),
            ("scan_window", "max_tokens", "100", f"out of range: {TO_MOST}"),
            ("scan_window", "max_tokens", "8191", f"out of range: {TO_MOST}"),
            ("scan_window", "max_tokens", "1048577", f"out of range: {TO_MOST}"),
            ("scan_window", "reread_margin", "21", "out of range: 0 to 20"),
        )
    ),
    (
        "max_body_bytes: 65536",
        "max_body_bytes: 60000000",
        "global.router.max_body_bytes",
        "out of range: 1024 to 50331648",
        None,
    ),
]


@pytest.mark.parametrize("case", MISTAKES, ids=str)
def test_one_mistake_is_one_error_with_line_path_and_advice(case: Mistake) -> None:
    """CFG-1, CFG-2, CFG-3, CFG-5, CFG-7, CFG-8, SIZE-2"""
    mistake(case)


def test_what_is_allowed_is_listed() -> None:
    """CFG-1"""
    text, _ = changed("operator: NOT", "operator: NO")
    assert errors(text)[0].allowed == ("AND", "OR", "NOT")
    text, _ = changed("defaults: {default", "x: {default")
    assert errors(text)[0].allowed == ("defaults", "models")
    text, _ = changed("provider: systemone", "provider: remote")
    assert errors(text)[0].allowed == ("model_runtime", "systemone")
    text, _ = changed("timeout_ms: 400", "placement: {}")
    assert errors(text)[0].allowed == tuple(RemoteDeployment.model_fields)
    text, _ = changed("status: 403", "status: 404")
    assert (errors(text)[0].allowed, errors(text)[0].value) == (("200", "403"), "404")


def test_every_mistake_of_form_and_of_meaning_comes_at_once() -> None:
    """CFG-1"""
    text = ROUTER
    for old, new in [
        ("priority: 500", "priority: high"),
        ("{type: domain, name: subject, label: math}", "{type: domain, name: subjct, label: math}"),
        ("gt: 0.4", "gtt: 0.4"),
        ("deployment: second, timeout_ms: 300", "deployment: third, timeout_ms: 300"),
    ]:
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert [problem.path for problem in errors(text)] == [
        "recipes[0].signals.domains[0].predicate.gtt",
        "recipes[0].decisions[1].priority",
        "recipes[0].decisions[1].rules.conditions[0].name",
        "recipes[0].decisions[1].algorithm.deployment",
    ]


def test_a_misspelled_section_is_read_for_the_mistakes_in_it() -> None:
    """CFG-1"""
    text, _ = changed(
        "domains: [{name: subject, labels: [math,", "domain: [{name: subject, labels: [maths,"
    )
    assert [(p.path, p.nearest) for p in errors(text)] == [
        ("recipes[0].signals.domain", "domains"),
        ("recipes[0].signals.domain[0].labels[0]", "math"),
    ]


@pytest.mark.parametrize("name", ['"[key]"', "model_runtime", "systemone"])
@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ("{}", "", "provider and artifact are missing"),
        ("5", "", "must be a mapping"),
        ("{provider: systemone, model: x}", "", "endpoint is missing"),
        ("{provider: x}", ".provider", "known values"),
    ],
)
def test_a_deployment_may_be_called_like_a_part_of_the_schema(
    name: str, body: str, path: str, message: str
) -> None:
    """CFG-1"""
    text, line = changed("      second: {", f"      {name}: {body}\n      second: {{")
    (problem,) = errors(text)
    part = '["[key]"]' if "[" in name else f".{name}"
    assert (problem.path, problem.line) == (f"{DEPLOYMENTS}{part}{path}", line)
    assert message in problem.message


@pytest.mark.parametrize("text", ["[]", "text", "1", "- version: v1"])
def test_a_file_that_is_no_mapping_is_one_error(text: str) -> None:
    """CFG-1"""
    (problem,) = errors(text)
    assert problem.message.startswith("must be a mapping")
    assert problem.line == 1
