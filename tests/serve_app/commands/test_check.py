"""CFG-1: ``check FILE`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from models.cards.shipped import shipped_card
from models.questions.types import QuestionType
from serve_app.cli import app
from serve_app.commands.check import as_json, as_text, rules_by_deployment
from serve_app.config.problem import Problem, Severity
from tests.doubles.router_yaml import ROUTER, loaded

SMALL = """\
version: v1
providers:
  models: [{name: general, backends: [{base_url: "http://127.0.0.1:9000/v1"}]}]
entrypoints: [{model_names: [auto], recipe: default}]
recipes:
  - name: default
    signals:
      jailbreak: [{name: attack}]
      keywords: [{name: shout, keywords: [urgent]}]
    decisions:
      - name: blocked
        rules: {conditions: [{type: jailbreak, name: attack}]}
        plugins: [{type: fast_response, message: No.}]
      - {name: rest, modelRefs: [{model: general}]}
"""


def check(tmp_path: Path, text: str, *options: str) -> tuple[Result, str]:
    path = tmp_path / "router.yaml"
    path.write_text(text)
    return CliRunner().invoke(app, ["check", str(path), *options]), str(path)


def test_a_usable_configuration_is_summed_up_with_its_warnings(tmp_path: Path) -> None:
    """CFG-1, SIG-1"""
    result, path = check(tmp_path, SMALL)
    assert result.exit_code == 0
    first, *rest = result.output.splitlines()
    assert first.startswith(f"{path}: valid, version ")
    assert rest == [
        "  recipe default (auto): 2 decisions",
        "    deployment primary: 1 rule: jailbreak:attack",
        "    no model: 1 rule: keywords:shout",
        f"warning: {path}:9 recipes[0].signals.keywords[0].name: no decision and no projection "
        "reads this rule: it is never asked",
        "1 warning",
    ]


def test_rules_that_ask_a_remote_deployment_are_told_apart(tmp_path: Path) -> None:
    """CFG-3"""
    text = SMALL.replace(
        "name: attack}]\n      keywords", "name: attack, deployment: far}]\n      keywords"
    ) + (
        "global: {model_catalog: {deployments: {primary: {provider: model_runtime, artifact: "
        "embedded}, far: {provider: systemone, endpoint: http://far.example, model: m}}}}\n"
    )
    result, _ = check(tmp_path, text)
    assert result.exit_code == 0
    assert "    remote deployment far: 1 rule: jailbreak:attack" in result.output.splitlines()


def test_errors_are_all_printed_and_the_exit_says_so(tmp_path: Path) -> None:
    """CFG-1"""
    text = SMALL.replace("name: attack}]}", "name: atack}]}").replace(
        "recipe: default", "recipe: x"
    )
    result, path = check(tmp_path, text)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        f"{path}:4 entrypoints[0].recipe: there is no such recipe (value x; allowed default)",
        f"{path}:12 recipes[0].decisions[0].rules.conditions[0].name: there is no jailbreak "
        "rule of this name (value atack; allowed attack; did you mean attack)",
        "2 errors",
    ]


def test_a_rule_that_its_model_cannot_answer_is_told_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-5, S1-14"""
    card = shipped_card("embedded")
    types = card.question_types - {QuestionType.SPAN}
    spanless = {"embedded": card.model_copy(update={"question_types": types})}
    monkeypatch.setattr("serve_app.commands.check.shipped_cards", lambda: spanless)
    result, _ = check(
        tmp_path, SMALL.replace("jailbreak: [", "pii: [{name: p}]\n      jailbreak: [")
    )
    assert result.exit_code == 1
    assert "recipes[0].signals.pii[0]: asks a span question" in result.output
    assert "name a deployment that does, or remove the rule" in result.output


@pytest.mark.parametrize(("text", "code"), [(SMALL, 0), (SMALL.replace("v1\n", "v2\n"), 1)])
def test_problems_are_printed_as_json(tmp_path: Path, text: str, code: int) -> None:
    """CFG-1"""
    result, path = check(tmp_path, text, "--format", "json")
    assert result.exit_code == code
    body = json.loads(result.output)
    assert (body["file"], body["valid"]) == (path, code == 0)
    assert (body["version"] is None) == (code == 1)
    (problem,) = body["problems"]
    assert problem["file"] == path
    assert problem["severity"] == ("warning" if code == 0 else "error")
    assert set(problem) == {
        "severity", "file", "line", "path", "message", "value", "allowed", "nearest",
    }  # fmt: skip


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """CFG-1"""
    result = CliRunner().invoke(app, ["check", str(tmp_path / "gone.yaml")])
    assert result.exit_code == 1
    assert "cannot be read: No such file or directory" in result.output


def test_rendering_is_a_function_of_what_was_found() -> None:
    """CFG-1"""
    problem = Problem(Severity.ERROR, "r.yaml", 3, "a.b", "is wrong", nearest="c")
    assert as_text("r.yaml", None, [problem]) == (
        "r.yaml:3 a.b: is wrong (did you mean c)\n1 error"
    )
    assert json.loads(as_json("r.yaml", None, [problem]))["problems"][0]["nearest"] == "c"
    assert as_text("r.yaml", loaded(), []).endswith("recipe frugal (cheap): 1 decision")


def test_rules_are_counted_for_the_deployment_they_ask() -> None:
    """COST-3"""
    config = loaded(ROUTER).config
    counts = {name: len(r) for name, r in rules_by_deployment(config, config.recipes[0]).items()}
    assert counts == {"first": 13, "far": 1, "second": 1, None: 6}
