"""CFG-1, CFG-2, CFG-10: a whole file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from serve_app.config.loading import load
from serve_app.config.problem import ConfigErrors
from serve_app.config.schema.document import Config
from tests.doubles.cards import ABLE, PLAIN
from tests.doubles.router_yaml import ROUTER, changed, errors, loaded

EXAMPLES = sorted((Path(__file__).parents[3] / "configs").glob("router*.yaml"))

TEN_MISTAKES = """\
version: v1
providers:
  defaults: {default_model: genral}
  models:
    - name: general
      backends: [{base_url: "http://127.0.0.1:9000/v1", timeout_ms: 0}]
    - name: reasoner
      backends: [{base_url: "${UPSTREAM}"}]
entrypoints:
  - {model_names: [auto], recipe: default}
recipes:
  - name: default
    signals:
      domains:
        - {name: math, labels: [maths]}
      jailbreak:
        - {name: attack, predicate: {lt: 0.5}}
      keywords:
        - {name: shout, patterns: ["[A-Z"]}
    decisions:
      - name: blocked
        priorty: 1000
        rules: {conditions: [{type: jailbreak, name: atack}]}
        plugins: [{type: fast_response, message: No.}]
      - name: hard
        priority: 10
        rules:
          conditions:
            - operator: NOT
              conditions:
                - {type: domain, name: math}
                - {type: keywords, name: shout}
        modelRefs: [{model: reasoner}]
        priority: 20
"""


def test_ten_mistakes_are_ten_errors_with_file_line_path_and_advice() -> None:
    """CFG-1, CFG-2, CFG-4, CFG-5, CFG-7, CFG-8, SIZE-2"""
    found = errors(TEN_MISTAKES, card=PLAIN, environ={})
    assert [(e.file, e.line, e.path, e.nearest) for e in found] == [
        ("router.yaml", 3, "providers.defaults.default_model", "general"),
        ("router.yaml", 6, "providers.models[0].backends[0].timeout_ms", None),
        ("router.yaml", 8, "providers.models[1].backends[0].base_url", None),
        ("router.yaml", 15, "recipes[0].signals.domains[0].labels[0]", "math"),
        ("router.yaml", 17, "recipes[0].signals.jailbreak[0].predicate.lt", None),
        ("router.yaml", 19, "recipes[0].signals.keywords[0].patterns[0]", None),
        ("router.yaml", 22, "recipes[0].decisions[0].priorty", "priority"),
        ("router.yaml", 23, "recipes[0].decisions[0].rules.conditions[0].name", "attack"),
        ("router.yaml", 29, "recipes[0].decisions[1].rules.conditions[0]", None),
        ("router.yaml", 34, "recipes[0].decisions[1].priority", None),
    ]
    advice = [
        "allowed general, reasoner; did you mean general",
        "out of range: 1 to 3600000 (value 0)",
        "does not set UPSTREAM; set it, or write ${UPSTREAM:-default}",
        "did you mean math",
        "allowed gt, gte",
        "missing ]",
        "did you mean priority",
        "did you mean attack",
        "NOT has exactly one condition, not 2",
        "the key stands twice, first on line 26",
    ]
    for error, part in zip(found, advice, strict=True):
        assert part in str(error)


def test_a_valid_file_is_its_typed_configuration() -> None:
    """CFG-3, CFG-8"""
    config = loaded().config
    assert [d.name for d in config.recipes[0].decisions] == ["blocked", "chosen", "mixed", "rest"]
    assert config.recipes[0].signals.jailbreak[0].on_unknown == "no_match"
    assert config.providers.models[0].upstream_id == "qwen3-8b"
    assert config.providers.models[1].upstream_id == "reasoner"
    assert str(config.providers.models[0].backends[1].base_url) == "http://127.0.0.1:9001/v1"


def test_variables_are_expanded() -> None:
    """CFG-2"""
    backends = loaded(environ={"OTHER": "http://h:1"}).config.providers.models[0].backends
    assert str(backends[1].base_url) == "http://h:1/v1"


def test_the_document_makes_the_same_configuration() -> None:
    """CFG-10"""
    found = loaded()
    assert Config.model_validate(found.document) == found.config


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: v1\n", "# a comment\nversion: 'v1'\n\n"),
        ("{model: reasoner}\n        algorithm", "{'model': \"reasoner\"}\n        algorithm"),
        (
            "labels: [math, physics], predicate: {gt: 0.4}",
            "predicate: {gt: 0.4}, labels: [math, physics]",
        ),
        ("operator: OR, keywords: [urgent]", "keywords: [urgent]"),
        ("weight: 3}, {model", "weight: 3.0}, {model"),
    ],
)
def test_the_version_does_not_depend_on_how_it_is_written(old: str, new: str) -> None:
    """CFG-10"""
    assert loaded(changed(old, new)[0]).version == loaded().version


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("priority: 500", "priority: 501"),
        ("{gt: 0.4}", "{gte: 0.4}"),
        ("french: It is French", "french: It is french"),
        ("[math, physics]", "[physics, math]"),
        ("127.0.0.1:9002", "127.0.0.1:9003"),
    ],
)
def test_the_version_changes_with_what_is_said(old: str, new: str) -> None:
    """CFG-10"""
    assert loaded(changed(old, new)[0]).version != loaded().version


def test_the_version_is_sixteen_hexadecimal_digits_that_stay() -> None:
    """CFG-10: processes of a cluster compute the same one."""
    version = loaded().version
    assert len(version) == 16
    assert int(version, 16) >= 0
    assert loaded().version == version


def test_a_variables_value_is_in_no_error() -> None:
    """CFG-2"""
    text, _ = changed("recipe: frugal", 'recipe: "${PLACE}"')
    (problem,) = errors(text, environ={"PLACE": "sesame"})
    assert problem.value == "${PLACE}"
    assert "sesame" not in str(problem)


def test_a_file_that_cannot_be_read_is_an_error_of_the_file(tmp_path: Path) -> None:
    """CFG-1"""
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\xfa")
    for name, reason in [
        ("gone.yaml", "No such file"),
        ("", "directory"),
        ("binary.yaml", "UTF-8"),
    ]:
        path = tmp_path / name
        with pytest.raises(ConfigErrors, match=reason) as raised:
            load(path, cards={}, environ={})
        assert str(raised.value).startswith(f"{path}: cannot be read")


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    """CFG-1"""
    path = tmp_path / "router.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + ROUTER.replace("\n", "\r\n").encode())
    assert load(path, cards={"embedded": ABLE}, environ={}).version == loaded().version


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_shipped_configurations_have_no_errors(path: Path) -> None:
    """CFG-1"""
    assert load(path, cards={"embedded": PLAIN}, environ=os.environ).config.entrypoints
