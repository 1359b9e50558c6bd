"""The benchmark starts what ships, on another port."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from benchmarks.servers.profile import Profile, question_json, read_profile
from models.questions.parse import parse_question
from models.questions.presets import PRESETS
from models.questions.types import Question, QuestionType
from serve_app.config.schema.document import Config

OWN = {"type": "noul", "instructions": "Is it long?"}
PROFILE = Profile(
    serve={
        "http_options": {"host": "127.0.0.1", "port": 8000},
        "controller_options": {"runtime_env": {"env_vars": {"OMP_NUM_THREADS": "2"}}},
        "applications": [{"name": "router", "import_path": "a:b", "args": {"config": "r.yaml"}}],
    },
    router={
        "recipes": [
            {
                "signals": {
                    "domains": [{"name": "math"}, {"name": "law"}],
                    "keywords": [{"name": "urgent"}],
                    "turn_relation": [{"name": "correction"}],
                    "systemone": [{"name": "long", "question": OWN}],
                }
            }
        ]
    },
)


def parsed(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = YAML(typ="safe").load(file)
    return document


def test_only_the_port_and_the_router_files_place_differ(tmp_path: Path) -> None:
    serve = PROFILE.write(tmp_path, port=1234)
    written = parsed(serve)
    assert written["http_options"] == {"host": "127.0.0.1", "port": 1234}
    (application,) = written["applications"]
    assert application["import_path"] == "a:b"
    assert {**written, "http_options": 0, "applications": 0} == {
        **PROFILE.serve,
        "http_options": 0,
        "applications": 0,
    }
    assert read_profile(serve).router == PROFILE.router


def test_another_application_gets_the_same_arguments(tmp_path: Path) -> None:
    first = parsed(PROFILE.write(tmp_path, port=1))["applications"][0]
    second = parsed(PROFILE.write(tmp_path, port=1, import_path="x:y"))["applications"][0]
    assert second == {**first, "import_path": "x:y"}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model_catalog": {"deployments": {"primary": {"placement": {"threads": 2}}}}},
    ],
)
def test_a_number_format_is_fixed_and_the_rest_stays(settings: dict[str, Any]) -> None:
    before = replace(PROFILE, router={**PROFILE.router, "global": settings})
    router = before.pinned("float32").router
    placement = router["global"]["model_catalog"]["deployments"]["primary"]["placement"]
    assert placement.pop("dtype") == "float32"
    assert placement == ({"threads": 2} if settings else {})
    assert router["recipes"] == PROFILE.router["recipes"]


def test_the_shipped_router_is_valid_with_a_fixed_number_format() -> None:
    shipped = Config.model_validate(read_profile().router)
    pinned = Config.model_validate(read_profile().pinned("float32").router)
    catalog = pinned.global_.model_catalog
    models = catalog.local
    assert models["primary"].placement.dtype == "float32"
    assert models.keys() == shipped.global_.model_catalog.local.keys()
    assert all(catalog.names(name) == shipped.global_.model_catalog.names(name) for name in models)


def test_a_preset_is_asked_once_and_what_is_not_asked_is_left_out() -> None:
    questions = PROFILE.questions()
    assert list(questions) == ["domain", "long"]
    assert questions["long"] == OWN


@pytest.mark.parametrize(
    "question",
    [
        question
        for forms in PRESETS.values()
        for question in forms.values()
        if question.options or question.type is QuestionType.NOUL
    ],
)
def test_a_written_out_question_reads_as_itself(question: Question) -> None:
    written = parse_question(question_json(question), client=True)
    assert written == (question if question.guards else replace(question, preset=None))


def test_the_shipped_recipe_asks_four_questions_about_a_prompt() -> None:
    profile = read_profile()
    assert list(profile.questions()) == ["domain", "jailbreak", "complexity", "needs_tools"]
    assert profile.variables["OMP_NUM_THREADS"].isdigit()
