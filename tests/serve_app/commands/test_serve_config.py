"""CFG-10: ``serve-config FILE``, and what ``serve deploy`` makes of its output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from ray.serve._private.application_state import override_deployment_info
from ray.serve._private.build_app import build_app
from ray.serve._private.config import DeploymentConfig
from ray.serve._private.deploy_utils import get_app_code_version
from ray.serve._private.deployment_info import DeploymentInfo
from ray.serve._private.version import DeploymentVersion
from ray.serve.schema import ServeApplicationSchema, ServeDeploySchema
from typer.testing import CliRunner

from serve_app.app import RouterArgs, build
from serve_app.cli import app
from serve_app.config.loading import load
from serve_app.deployments.placement.model_spec import MODEL_VARIABLE, ModelSpec
from serve_app.deployments.rollout.policy import Policy
from tests.doubles.cards import ABLE

ROOT = Path(__file__).parents[3]
SERVE = """\
applications:
  - name: router
    import_path: serve_app.app:build
    args: {config: ROUTER}
"""
MODEL = "DecisionModel-primary"


def written(tmp_path: Path, document: Any, serve: str = SERVE) -> Path:
    """A Serve file, and the router configuration that it names."""
    (tmp_path / "router.yaml").write_text(yaml.safe_dump(document))
    file = tmp_path / "serve.yaml"
    file.write_text(serve.replace("ROUTER", str(tmp_path / "router.yaml")))
    return file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["serve-config", *arguments])


def application(file: Path, *options: str) -> dict[str, Any]:
    """The one application of the written file, as Ray reads it."""
    result = run(str(file), *options)
    assert result.exit_code == 0, result.output
    document = yaml.safe_load(result.stdout)
    if document.get("kind") == "RayService":
        document = yaml.safe_load(document["spec"]["serveConfigV2"])
    ServeDeploySchema.model_validate(document)
    (found,) = document["applications"]
    return dict(found)


def shipped_router() -> Any:
    return yaml.safe_load((ROOT / "configs/router.yaml").read_text())


def router(**models: Mapping[str, Any]) -> Any:
    """The shipped router with these keys of its local models."""
    local = {"provider": "model_runtime", "artifact": "embedded"}
    deployments = {name: {**local, **keys} for name, keys in models.items()}
    return {**shipped_router(), "global": {"model_catalog": {"deployments": deployments}}}


@pytest.fixture
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped Serve files name the router's by a path from there."""
    monkeypatch.chdir(ROOT)


def built(router: Path, overrides: Mapping[str, Any] | None = None) -> dict[str, DeploymentVersion]:
    """Serve's own record of each deployment: of the graph as code builds it, with the overrides of
    a Serve file laid over as Serve does."""
    graph = build_app(
        build(RouterArgs(config=router)),
        name="router",
        default_runtime_env={},
        make_deployment_handle=lambda deployment, app: object(),  # type: ignore[arg-type,return-value]
    )
    infos = {
        deployment.name: DeploymentInfo(
            deployment_config=DeploymentConfig.from_proto_bytes(
                deployment._deployment_config.to_proto_bytes()
            ),
            replica_config=deployment._replica_config,
            start_time_ms=0,
            deployer_job_id="",
            version="code",
        )
        for deployment in graph.deployments
    }
    if overrides is not None:
        infos = override_deployment_info(infos, ServeApplicationSchema(**overrides))
    return {
        name: DeploymentVersion(
            info.version, info.deployment_config, info.replica_config.ray_actor_options
        )
        for name, info in infos.items()
    }


Differs = Callable[[DeploymentVersion, DeploymentVersion], bool]


def differing(
    before: Mapping[str, DeploymentVersion], after: Mapping[str, DeploymentVersion], how: Differs
) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name, version in before.items() if how(version, after[name])}


RESTARTED: Differs = DeploymentVersion.requires_actor_restart
RECONFIGURED: Differs = DeploymentVersion.requires_actor_reconfigure
CHANGED: Differs = DeploymentVersion.__ne__


@pytest.mark.usefixtures("in_root")
@pytest.mark.parametrize(
    ("name", "router"),
    [
        ("serve.yaml", "router.yaml"),
        ("serve.cpu.yaml", "router.yaml"),
        ("serve.gpu.yaml", "router.gpu.yaml"),
        ("rayservice.yaml", "router.yaml"),
    ],
)
def test_deploying_what_runs_changes_nothing(name: str, router: str) -> None:
    """CFG-10: the graph that the shipped file runs, then the written file over it"""
    text = (ROOT / "configs" / name).read_text()
    source = yaml.safe_load(text)
    if name == "rayservice.yaml":
        source = yaml.safe_load(source["spec"]["serveConfigV2"])
    (runs,) = source["applications"]
    to = application(Path("configs") / name, "--router", f"configs/{router}")
    assert get_app_code_version(ServeApplicationSchema(**runs)) == get_app_code_version(
        ServeApplicationSchema(**to)
    )
    before = built(ROOT / "configs" / router, runs)
    after = built(ROOT / "configs" / router, to)
    assert {"Ingress", "SignalPlanner", MODEL} == set(after)
    assert differing(before, after, CHANGED) == set()
    for name in after:
        replicas = after[name].deployment_config.num_replicas
        assert replicas == before[name].deployment_config.num_replicas


def changes(tmp_path: Path, old: Any, new: Any) -> dict[str, set[str]]:
    """What of a graph of ``old`` restarts, and what is reconfigured, when ``new`` comes."""
    file = written(tmp_path, old)
    config = tmp_path / "router.yaml"
    first = application(file)
    before = built(config, first)
    (tmp_path / "later.yaml").write_text(yaml.safe_dump(new))
    second = application(file, "--router", str(tmp_path / "later.yaml"))
    assert second["args"] == first["args"]
    after = built(config, second)
    restarted = differing(before, after, RESTARTED)
    return {
        "restarted": restarted,
        "reconfigured": differing(before, after, RECONFIGURED) - restarted,
    }


def test_a_policy_alone_restarts_nothing(tmp_path: Path) -> None:
    """CFG-10"""
    new = shipped_router()
    new["recipes"][0]["decisions"][0]["name"] = "refused"
    assert changes(tmp_path, shipped_router(), new) == {
        "restarted": set(),
        "reconfigured": {"Ingress", "SignalPlanner"},
    }


@pytest.mark.parametrize(
    "keys",
    [
        {"placement": {"threads": 2}},
        {"placement": {"device": "cpu"}},
        {"placement": {"dtype": "float32"}},
        {"placement": {"num_cpus": 0.5}},
        {"max_queue_s": 3},
    ],
)
def test_a_placement_restarts_its_own_deployment(tmp_path: Path, keys: Mapping[str, Any]) -> None:
    """CFG-10"""
    old, new = router(primary={}, second={}), router(primary={}, second=keys)
    assert changes(tmp_path, old, new) == {
        "restarted": {"DecisionModel-second"},
        "reconfigured": {"Ingress", "SignalPlanner"},
    }


@pytest.mark.parametrize(
    "keys", [{"autoscaling": {"min_replicas": 2}}, {"aliases": ["quick"]}, {"timeout_ms": 300}]
)
def test_what_else_the_catalog_says_of_a_model_restarts_nothing(
    tmp_path: Path, keys: Mapping[str, Any]
) -> None:
    """CFG-10"""
    assert changes(tmp_path, router(primary={}), router(primary=keys))["restarted"] == set()


def test_a_local_model_more_or_less_makes_serve_build_anew(tmp_path: Path) -> None:
    """CFG-10: a remote one is no deployment of the graph"""
    file = written(tmp_path, router(primary={}, second={}))
    assert application(file)["args"]["models"] == ["primary", "second"]
    document = router(primary={})
    document["global"]["model_catalog"]["deployments"]["far"] = {
        "provider": "systemone",
        "endpoint": "https://api.example.com/v1/systemone",
        "model": "jev-latest",
    }
    file = written(tmp_path, document, SERVE.replace("ROUTER}", "ROUTER, models: [old]}"))
    found = application(file)
    assert found["args"]["models"] == ["primary"]
    assert {entry["name"] for entry in found["deployments"]} == {
        "Ingress",
        "SignalPlanner",
        MODEL,
    }


def test_what_the_file_says_itself_stands(tmp_path: Path) -> None:
    """CFG-10"""
    serve = f"""{SERVE}
    deployments:
      - {{name: {MODEL}, num_replicas: 3}}
      - {{name: Ingress, num_replicas: 2}}
"""
    found = application(written(tmp_path, shipped_router(), serve))
    first, second, third = found["deployments"]
    assert (first["name"], first["num_replicas"]) == (MODEL, 3)
    assert first["ray_actor_options"]["num_cpus"] == 0.25
    assert (second["name"], second["num_replicas"]) == ("Ingress", 2)
    assert second["user_config"] == third["user_config"]


def test_what_the_file_says_of_actors_stands_key_by_key(tmp_path: Path) -> None:
    """CFG-10, SRV-13: Serve takes a file's actor options whole"""
    serve = f"""{SERVE}
    deployments:
      - name: {MODEL}
        ray_actor_options:
          num_cpus: 2
          resources: {{rack: 1}}
          runtime_env: {{env_vars: {{OMP_NUM_THREADS: "3", MINE: "1"}}}}
"""
    document = router(primary={"placement": {"threads": 2, "num_gpus": 0.5}})
    bare = application(written(tmp_path, document))
    found = application(written(tmp_path, document, serve))
    (model,) = [entry for entry in bare["deployments"] if entry["name"] == MODEL]
    (mine,) = [entry for entry in found["deployments"] if entry["name"] == MODEL]
    variables = model["ray_actor_options"]["runtime_env"]["env_vars"]
    assert (mine["name"], mine["num_replicas"]) == (MODEL, 1)
    assert mine["ray_actor_options"] == {
        "num_cpus": 2,
        "num_gpus": 0.5,
        "resources": {"rack": 1},
        "runtime_env": {
            "env_vars": {
                MODEL_VARIABLE: variables[MODEL_VARIABLE],
                "OMP_NUM_THREADS": "3",
                "MINE": "1",
            }
        },
    }
    config = tmp_path / "router.yaml"
    options = built(config, found)[MODEL].ray_actor_options
    assert ModelSpec.of_process(options["runtime_env"]["env_vars"]).placement.threads == 2
    assert differing(built(config, bare), built(config, found), RESTARTED) == {MODEL}


@pytest.mark.parametrize(
    "options", ["", "{num_cpus: 2}", "{runtime_env: }", "{runtime_env: {env_vars: }}"]
)
def test_a_models_replica_is_always_told_its_model(tmp_path: Path, options: str) -> None:
    """SRV-13"""
    serve = f"{SERVE}    deployments: [{{name: {MODEL}, ray_actor_options: {options}}}]\n"
    found = application(written(tmp_path, shipped_router(), serve))
    variables = found["deployments"][0]["ray_actor_options"]["runtime_env"]["env_vars"]
    assert ModelSpec.of_process(variables).artifact == "embedded"


def test_another_placement_reaches_a_file_that_held_one(tmp_path: Path) -> None:
    """SRV-13: what a replica is started for is the configuration's"""
    held = "{runtime_env: {env_vars: {ROUTER_MODEL: old}}}"
    serve = f"{SERVE}    deployments: [{{name: {MODEL}, ray_actor_options: {held}}}]\n"
    document = router(primary={"max_queue_s": 3})
    found = application(written(tmp_path, document, serve))
    variables = found["deployments"][0]["ray_actor_options"]["runtime_env"]["env_vars"]
    assert ModelSpec.of_process(variables).max_queue_s == 3


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ("[num_cpus]", f"{MODEL}.ray_actor_options"),
        ("{runtime_env: {env_vars: [MINE]}}", f"{MODEL}.ray_actor_options.runtime_env.env_vars"),
    ],
)
def test_actor_options_that_are_no_mapping_are_refused(
    tmp_path: Path, options: str, where: str
) -> None:
    serve = f"{SERVE}    deployments: [{{name: {MODEL}, ray_actor_options: {options}}}]\n"
    result = run(str(written(tmp_path, shipped_router(), serve)))
    assert (result.exit_code, result.stderr) == (1, f"{where} is no mapping\n")


@pytest.mark.parametrize(
    "text", ["on", "no", "~", "1e-05", "2026-01-01", "0x10", "a: b", "two\nlines\n", "ein „ü“ 🦊"]
)
def test_a_text_stays_a_text_in_rays_reader(tmp_path: Path, text: str) -> None:
    """CFG-10: YAML has words and numbers that other YAML reads as something else"""
    document = shipped_router()
    document["recipes"][0]["decisions"][0]["plugins"][0]["message"] = text
    document["recipes"][0]["signals"]["systemone"][0]["predicate"] = {"gte": 0.00001}
    file = written(tmp_path, document)
    (tmp_path / "router.yaml").write_text(json.dumps(document, ensure_ascii=False))
    found = application(file)
    loaded = load(tmp_path / "router.yaml", cards={"embedded": ABLE}, environ={})
    user_config = found["deployments"][0]["user_config"]
    expected = Policy.of_loaded(loaded, {"embedded": ABLE}).user_config()
    assert user_config["config"] == expected["config"]
    assert Policy.of(user_config).config == loaded.config


def test_errors_are_all_printed_and_nothing_is_written(tmp_path: Path) -> None:
    """CFG-1"""
    document = shipped_router()
    document["entrypoints"][0]["recipe"] = "other"
    document["recipes"][0]["decisions"][0]["rules"]["conditions"][0]["name"] = "atack"
    target = tmp_path / "made" / "serve.yaml"
    result = run(str(written(tmp_path, document)), "-o", str(target))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 2
    assert {"entrypoints", "attack"} <= set(re.findall(r"entrypoints|attack", result.stderr))
    assert not target.exists()


def test_the_version_is_told_where_a_file_is_written(tmp_path: Path) -> None:
    """CFG-10"""
    target = tmp_path / "made" / "serve.yaml"
    file = written(tmp_path, shipped_router())
    result = run(str(file), "--output", str(target))
    version = load(tmp_path / "router.yaml", cards={"embedded": ABLE}, environ={}).version
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{target}: version {version}\n"
    assert target.read_text() == run(str(file)).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "no Serve file"),
        ("applications: [{name: x, import_path: 'other:app'}]", "import_path serve_app.app:build"),
        ("applications: [{name: x, import_path: 'serve_app.app:build'}]", "args.config"),
        ("applications: [", "cannot be read"),
    ],
)
def test_a_file_that_is_none_of_the_routers_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text(text)
    result = run(str(file))
    assert result.exit_code == 1
    assert message in result.stderr


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = run(str(tmp_path / "none.yaml"))
    assert result.exit_code == 1
    assert "cannot be read" in result.stderr
