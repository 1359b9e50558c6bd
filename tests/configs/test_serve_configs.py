"""SRV-3, SRV-14: the shipped files are valid for Ray and hold the process profile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.serve.schema import ServeDeploySchema

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"

PROFILE = {
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
    "RAY_SERVE_ENABLE_HA_PROXY": "1",
    "RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH": str(64 * 1024 * 1024),
    "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "5",
    "RAY_SERVE_HAPROXY_BROADCAST_COALESCE_S": "1",
    "RAY_SERVE_REQUEST_PATH_LOG_BUFFER_SIZE": "1",
}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def ray_service() -> Any:
    return read(CONFIGS / "rayservice.yaml")["spec"]


SERVE_CONFIGS = {
    "serve.yaml": lambda: read(CONFIGS / "serve.yaml"),
    "serve.cpu.yaml": lambda: read(CONFIGS / "serve.cpu.yaml"),
    "serve.gpu.yaml": lambda: read(CONFIGS / "serve.gpu.yaml"),
    "rayservice.yaml": lambda: yaml.safe_load(ray_service()["serveConfigV2"]),
}


@pytest.fixture(params=SERVE_CONFIGS)
def serve_config(request: pytest.FixtureRequest) -> Any:
    return SERVE_CONFIGS[request.param]()


def test_serve_accepts_every_shipped_config(serve_config: Any) -> None:
    schema = ServeDeploySchema.model_validate(serve_config)
    (app,) = schema.applications
    assert (app.name, app.import_path) == ("router", "serve_app.app:build")


def test_no_shipped_config_has_a_key_that_serve_would_ignore(serve_config: Any) -> None:
    """Serve's schema drops unknown ``http_options``: a typo would go unseen."""
    assert set(serve_config["http_options"]) <= {"host", "port", "keep_alive_timeout_s"}


def test_every_config_carries_the_profile_to_the_controller(serve_config: Any) -> None:
    env = serve_config["controller_options"]["runtime_env"]["env_vars"]
    assert env.items() >= PROFILE.items()


def test_no_config_cuts_long_streams(serve_config: Any) -> None:
    assert "request_timeout_s" not in serve_config["http_options"]


def test_no_config_logs_requests(serve_config: Any) -> None:
    assert serve_config["logging_config"]["enable_access_log"] is False


def test_one_machine_is_served_on_loopback() -> None:
    text = (CONFIGS / "serve.yaml").read_text()
    assert read(CONFIGS / "serve.yaml")["http_options"]["host"] == "127.0.0.1"
    assert "0.0.0.0" not in text


def sourced(script: str, path: str = os.environ["PATH"]) -> dict[str, str]:
    """The environment that a POSIX shell has after sourcing ``configs/<script>``."""
    shown = subprocess.run(
        ["sh", "-euc", f". configs/{script} && env -0"],
        cwd=ROOT,
        env={"PATH": path},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return dict(line.split("=", 1) for line in shown.split("\0") if line)


def test_env_sh_exports_the_same_profile() -> None:
    assert sourced("env.sh").items() >= PROFILE.items()


def test_local_sh_keeps_ray_and_haproxy_on_loopback(tmp_path: Path) -> None:
    installed = tmp_path / "systemone-haproxy"
    installed.touch(0o755)
    env = sourced("local.sh", f"{tmp_path}:{os.environ['PATH']}")
    assert env["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert Path(env["RAY_SERVE_HAPROXY_BINARY_PATH"]).name == "systemone-haproxy"


def test_local_sh_stops_where_the_package_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    shutil.copy(CONFIGS / "local.sh", tmp_path / "configs")
    done = subprocess.run(
        ["sh", "-c", ". configs/local.sh && echo started"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert "systemone-haproxy is missing" in done.stderr


def test_the_cluster_file_is_valid_for_the_launcher() -> None:
    validate_config(prepare_config(read(ROOT / "cluster.yaml")))


def test_nodes_start_with_the_profile_in_the_same_command() -> None:
    """Variables exported by one launcher command are gone in the next."""
    cluster = read(ROOT / "cluster.yaml")
    for commands in (cluster["head_start_ray_commands"], cluster["worker_start_ray_commands"]):
        (start,) = [command for command in commands if re.search(r"\bray start\b", command)]
        assert ". configs/env.sh &&" in start


def test_every_pod_of_the_ray_service_has_the_profile() -> None:
    cluster = ray_service()["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    assert [group.get("groupName") for group in groups] == [None, "cpu", "gpu"]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        env = {entry["name"]: entry.get("value") for entry in container["env"]}
        assert env.items() >= PROFILE.items()


def test_the_ray_service_runs_the_ray_that_is_installed() -> None:
    import ray

    assert ray_service()["rayClusterConfig"]["rayVersion"] == ray.__version__


def test_the_gpu_router_differs_in_placement_alone() -> None:
    shipped, gpu = read(CONFIGS / "router.yaml"), read(CONFIGS / "router.gpu.yaml")
    placement = gpu.pop("global")["model_catalog"]["deployments"]["primary"]["placement"]
    assert gpu == shipped
    assert placement["device"] == "cuda"
    assert placement["num_gpus"] > 0


@pytest.mark.parametrize("name", ["router.yaml", "router.gpu.yaml"])
def test_shipped_routers_fit_the_schema(name: str) -> None:
    """CFG-1. The loader checks more: names, contradictions, the model's card."""
    from serve_app.config.schema.document import Config

    Config.model_validate(read(CONFIGS / name))


def test_the_shipped_recipe_rests_on_the_model_alone() -> None:
    (recipe,) = read(CONFIGS / "router.yaml")["recipes"]
    assert "keywords" not in recipe["signals"]
