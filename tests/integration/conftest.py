"""One Ray instance at a time, on this machine alone."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from serve_app.deployments.placement.model_spec import RESULT_CACHE_VARIABLE
from serve_app.deployments.process.profile import MESSAGE_BYTES
from tests.doubles.servers import echo_provider
from tests.integration.shipped import ROOT, Running, shipped

ECHO = "http://127.0.0.1:9000/v1"
"""The provider of the shipped router configuration."""


@pytest.fixture(scope="session")
def provider() -> Iterator[str]:
    """The echo provider's base URL."""
    with echo_provider() as url:
        yield url


@pytest.fixture(scope="module")
def router(
    provider: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch_module: pytest.MonkeyPatch,
) -> Iterator[Running]:
    """The shipped router, whole; its chat models are ``provider``. Without the result cache: what
    is asked twice is computed twice.
    """
    monkeypatch_module.setenv(RESULT_CACHE_VARIABLE, "0")
    text = (ROOT / "configs/router.yaml").read_text()
    assert ECHO in text
    config = tmp_path_factory.mktemp("router") / "router.yaml"
    config.write_text(text.replace(ECHO, provider))
    with shipped(config=str(config), ready="/ready") as running:
        yield running


@pytest.fixture(scope="module")
def ray_serve(monkeypatch_module: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray and Serve without HTTP, replicas talking gRPC (SRV-3)."""
    monkeypatch_module.setenv("RAY_SERVE_USE_GRPC_BY_DEFAULT", "1")
    monkeypatch_module.setenv("RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH", str(MESSAGE_BYTES))
    with started_ray(proxy_location="Disabled"):
        yield


@contextmanager
def started_ray(**serving: Any) -> Iterator[None]:
    """Ray and Serve in this process, as this environment says; ``serving``: of ``serve.start``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        import ray
        from ray import serve

        folder = tempfile.mkdtemp(prefix="ray-")
        ray.init(
            num_cpus=4,
            include_dashboard=False,
            object_store_memory=100 * 1024 * 1024,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
            _temp_dir=folder,
        )
        serve.start(**serving)
        try:
            yield
        finally:
            serve.shutdown()
            ray.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch
