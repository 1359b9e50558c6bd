"""The active configuration, and what is wrong with another one (CFG-2, CFG-10)."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import orjson
import pytest

from models.cards.shipped import shipped_cards
from serve_app.commands.check import as_json
from serve_app.config.loading import load_text
from serve_app.config.problem import ConfigErrors
from serve_app.deployments.api import config_validation
from serve_app.deployments.api.validation_process import MAX_ALLOWED, MAX_PROBLEMS, NAME
from tests.doubles.scripted_services import VERSION
from tests.serve_app.deployments.api.conftest import Router, Start, document, model

CONFIG = "/api/v1/config"
VALIDATE = "/api/v1/config/validate"
FILE = """\
version: v1
providers:
  models:
    - name: general
      backends: [{base_url: "http://${HOST}:9000/v1", api_key_env: GENERAL_KEY}]
entrypoints: [{model_names: [auto], recipe: default}]
recipes:
  - name: default
    decisions: [{name: rest, modelRefs: [{model: general}]}]
"""
PLAIN = FILE.replace("${HOST}", "127.0.0.1")
ENV = {"HOST": "sesame.example", "GENERAL_KEY": "sesame-key", "OPS_KEY": "sesame-ops"}


async def validated(router: Router, text: str | bytes, **headers: str) -> dict[str, Any]:
    answer = await router.client.post(VALIDATE, content=text, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    assert "x-vsr-request-id" in answer.headers
    body: dict[str, Any] = answer.json()
    assert set(body) == {"valid", "version", "problems", "more_problems"}
    return body


def checked(text: str) -> list[dict[str, Any]]:
    """The problems as ``check --format json`` prints them."""
    try:
        loaded = load_text(text, NAME, cards=shipped_cards(), environ=ENV)
    except ConfigErrors as errors:
        problems: list[dict[str, Any]] = orjson.loads(as_json(NAME, None, errors.problems))[
            "problems"
        ]
    else:
        problems = orjson.loads(as_json(NAME, loaded, loaded.warnings))["problems"]
    return problems


async def test_the_active_configuration_is_shown_as_written_and_without_secrets(
    start: Start,
) -> None:
    """CFG-2, CFG-10"""
    loaded = load_text(FILE, "router.yaml", cards=shipped_cards(), environ=ENV)
    async with start(dict(loaded.document), ENV, loaded.shown) as router:
        answer = await router.client.get(CONFIG)
    assert answer.status_code == 200
    body = answer.json()
    assert body["version"] == VERSION
    backend = body["config"]["providers"]["models"][0]["backends"][0]
    assert backend == {"base_url": "http://${HOST}:9000/v1", "api_key_env": "***"}
    assert body["config"]["entrypoints"] == [{"model_names": ["auto"], "recipe": "default"}]
    assert "sesame" not in answer.text
    assert "GENERAL_KEY" not in answer.text


async def test_a_configuration_without_a_file_is_shown_without_secrets(start: Start) -> None:
    """CFG-2"""
    config = document(
        model("general", "http://user:sesame@127.0.0.1:9/v1", api_key_env="GENERAL_KEY"),
        callers=[{"name": "ops", "api_key_env": "OPS_KEY"}],
    )
    async with start(config, ENV) as router:
        refused = await router.client.get(CONFIG)
        answer = await router.client.get(CONFIG, headers={"authorization": "Bearer sesame-ops"})
    assert refused.status_code == 401
    shown = answer.json()["config"]
    assert shown["global"]["router"]["callers"] == [{"name": "ops", "api_key_env": "***"}]
    assert shown["providers"]["models"][0]["backends"] == [
        {"base_url": "http://…@127.0.0.1:9/v1", "api_key_env": "***"}
    ]


@pytest.mark.parametrize("content_type", ["application/yaml", "text/plain", "application/json"])
async def test_a_document_that_can_be_used_has_its_version(start: Start, content_type: str) -> None:
    """CFG-10: it is not applied."""
    loaded = load_text(PLAIN, NAME, cards=shipped_cards(), environ=ENV)
    async with start(document(), ENV) as router:
        body = await validated(router, PLAIN, **{"content-type": content_type})
        active = (await router.client.get(CONFIG)).json()
    assert body == {"valid": True, "version": loaded.version, "problems": [], "more_problems": 0}
    assert active["version"] == VERSION


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("recipe: default", "recipe: defualt").replace("name: rest", "nmae: rest"),
        PLAIN.replace(
            "decisions:", "signals: {context: [{name: c, min_tokens: 1}]}\n    decisions:"
        ),
        "",
        "- a\n\x00",
        "\x00",
        "{[",
        "a: !!python/object/apply:os.system [true]",
        "? {a: b}\n: c",
    ],
)
async def test_problems_are_those_of_the_command(start: Start, text: str) -> None:
    """CFG-1, CFG-10"""
    async with start(document(), ENV) as router:
        body = await validated(router, text)
    assert body["problems"] == checked(text) != []
    assert body["valid"] is all(p["severity"] == "warning" for p in body["problems"])


async def test_a_document_learns_nothing_that_the_environment_holds(start: Start) -> None:
    """CFG-2: only whether a variable is set."""
    wanted = "${GENERAL_KEY}"
    text = f"""\
version: "{wanted}"
providers:
  defaults: {{default_model: missing}}
  models:
    - {{name: "{wanted}", backends: [{{base_url: "http://h", api_key_env: "{wanted}"}}]}}
    - {{name: sesame-kee, backends: [{{base_url: "{wanted}"}}]}}
entrypoints: [{{model_names: [auto], recipe: "{wanted}"}}]
recipes:
  - name: sesame-kex
    signals:
      keywords: [{{name: k, patterns: ["[{wanted}"]}}]
      systemone: [{{name: q, question: {{type: "{wanted}", instructions: "{wanted}"}}}}]
    decisions: [{{name: "{wanted}", rules: {{operator: "{wanted}"}}, "{wanted}": "${{ABSENT}}"}}]
"""
    async with start(document(), ENV) as router:
        answer = await router.client.post(VALIDATE, content=text)
    assert answer.status_code == 200
    assert answer.json()["version"] is None
    assert "sesame-key" not in answer.text
    assert "sesame-ke" not in answer.text.replace("sesame-kee", "").replace("sesame-kex", "")
    said = [p["message"] for p in answer.json()["problems"]]
    assert any("does not set ABSENT" in message for message in said)


async def test_a_document_with_a_variable_is_judged_but_for_its_value(start: Start) -> None:
    """CFG-2, CFG-10"""
    async with start(document(), ENV) as router:
        body = await validated(router, FILE)
    (problem,) = body["problems"]
    assert (body["valid"], body["version"]) == (True, None)
    assert (problem["severity"], problem["value"]) == ("warning", "http://${HOST}:9000/v1")


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"a{i}: &b{i} [{','.join([f'*b{i - 1}' if i else '*a'] * 9)}]\n" for i in range(9)
        ),
        "[" * 5000,
        "{a: " * 1000,
        "- " * 5000,
    ],
    ids=["aliases", "lists", "mappings", "blocks"],
)
async def test_what_multiplies_or_nests_is_a_problem_of_the_document(
    start: Start, text: str
) -> None:
    """CFG-10"""
    async with start(document(), ENV) as router:
        body = await validated(router, text)
    assert body["valid"] is False


async def test_many_problems_are_counted_and_their_lists_cut(start: Start) -> None:
    """CFG-10: so the answer's size is bounded."""
    recipes = "".join(f"  - {{name: recipe-{i}}}\n" for i in range(MAX_ALLOWED + 20))
    points = "".join(
        f"  - {{model_names: [a{i}], recipe: none}}\n" for i in range(MAX_PROBLEMS + 30)
    )
    async with start(document(), ENV) as router:
        body = await validated(router, f"version: v1\nrecipes:\n{recipes}entrypoints:\n{points}")
    assert (len(body["problems"]), body["more_problems"]) == (MAX_PROBLEMS, 30)
    assert {len(problem["allowed"]) for problem in body["problems"]} == {MAX_ALLOWED}


async def test_a_document_that_costs_too_much_is_refused(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-10: its process is ended."""
    monkeypatch.setattr(config_validation, "PATIENCE_S", 0.01)
    async with start(document(), ENV) as router:
        answer = await router.client.post(VALIDATE, content=PLAIN)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert "too long" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", 400),
        ("raise MemoryError", 400),
        ("raise SystemExit(3)", 500),
    ],
)
async def test_a_validation_process_that_dies_takes_nothing_with_it(
    start: Start, monkeypatch: pytest.MonkeyPatch, code: str, status: int
) -> None:
    """CFG-10: beyond its limits it is the document's fault, else the router's own."""
    async with start(document(), ENV) as router:
        with monkeypatch.context() as patched:
            patched.setattr(config_validation, "_COMMAND", (sys.executable, "-c", code))
            failed = await router.client.post(VALIDATE, content=PLAIN)
        body = await validated(router, PLAIN)
    assert failed.status_code == status
    assert body["valid"] is True


async def test_a_validation_process_is_given_no_variable_of_the_routers(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-2"""
    monkeypatch.setenv("SESAME", "opened")
    code = "import os, sys; print(sys.stdin.read(), dict(os.environ))"
    monkeypatch.setattr(config_validation, "_COMMAND", (sys.executable, "-c", code))
    async with start(document(), {"SESAME": "opened", "\udcff": "x"}) as router:
        answer = await router.client.post(VALIDATE, content=PLAIN)
    assert "SESAME" in answer.text
    assert "opened" not in answer.text


async def test_bodies_beyond_the_cap_or_in_no_text_are_refused(start: Start) -> None:
    """CFG-10, API-6"""
    async with start(document(), ENV) as router:
        large = await router.client.post(VALIDATE, content=b"#" * (config_validation.MAX_BYTES + 1))
        binary = await router.client.post(VALIDATE, content=b"a: \xff")
    assert (large.status_code, large.json()["error"]["code"]) == (413, "request_too_large")
    assert (binary.status_code, binary.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_validation_needs_a_key_where_callers_have_one(start: Start) -> None:
    """API-7, CFG-10"""
    config = document(callers=[{"name": "ops", "api_key_env": "OPS_KEY"}])
    async with start(config, ENV) as router:
        refused = await router.client.post(VALIDATE, content=PLAIN)
        body = await validated(router, PLAIN, authorization="Bearer sesame-ops")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
    assert body["valid"] is True


async def test_few_documents_wait_and_more_are_refused(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-10, OVL-10"""
    held, room = threading.Event(), config_validation.WAITING + 1

    def validated_document(given: bytes) -> bytes:
        assert held.wait(60)
        return b"{}"

    monkeypatch.setattr(config_validation, "_validated", validated_document)
    async with start(document(), ENV) as router:
        posted = [
            asyncio.ensure_future(router.client.post(VALIDATE, content=PLAIN, timeout=60))
            for _ in range(room + 3)
        ]
        refused: set[asyncio.Future[Any]] = set()
        waiting: set[asyncio.Future[Any]] = set(posted)
        while len(waiting) > room:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            refused |= done
        held.set()
        statuses = [answer.status_code for answer in await asyncio.gather(*waiting)]
        again = await router.client.post(VALIDATE, content=PLAIN)
    assert statuses == [200] * room
    assert again.status_code == 200
    for answer in [task.result() for task in refused]:
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "overloaded")
        assert int(answer.headers["retry-after"]) >= 1
