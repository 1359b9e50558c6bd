"""SRV-3: a loopback node's replica listens on loopback; its logs and counters are shared."""

from __future__ import annotations

import logging
import os
from copy import copy
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, values
from prometheus_client.multiprocess import MultiProcessCollector
from ray.serve._private import replica as serve_replica
from ray.serve._private.common import ServeComponentType
from ray.serve._private.logging_utils import configure_component_logger
from ray.serve.schema import LoggingConfig

from serve_app.deployments.process import replica
from serve_app.deployments.process.replica import share_counters


@pytest.mark.parametrize(
    "name", ["vsr", "serve_app.deployments.asking.model_client", "models.embedded"]
)
def test_a_warning_of_the_product_is_a_warning_in_serves_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """UNK-3: the file of a replica, set up by Serve itself at the shipped ``log_level``"""
    for root in replica.LOGGERS:
        monkeypatch.setattr(logging.getLogger(root), "parent", logging.getLogger())
    serves = logging.getLogger("ray.serve")
    for attribute in ("handlers", "level", "propagate"):
        monkeypatch.setattr(serves, attribute, copy(getattr(serves, attribute)))
    configure_component_logger(
        component_type=ServeComponentType.REPLICA,
        component_name="router_Ingress",
        component_id="1",
        logging_config=LoggingConfig(
            log_level="WARNING", enable_access_log=False, logs_dir=str(tmp_path)
        ),
        max_bytes=1_000_000,
        backup_count=1,
    )
    replica.log_to_serve()
    logging.getLogger(name).warning("seen")
    logging.getLogger(name).info("unseen")
    (line,) = (tmp_path / "replica_router_Ingress_1.log").read_text().splitlines()
    assert line.startswith("WARNING")
    assert line.endswith("seen")
    serves.handlers[-1].close()


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a replica's gRPC server was bound to."""
    addresses: list[str] = []

    def add_port(server: object, address: str) -> int:
        addresses.append(address)
        return 1

    monkeypatch.setattr(serve_replica, "add_port_to_grpc_server", add_port)
    return addresses


@pytest.mark.parametrize(
    ("node", "address"), [("127.0.0.1", "127.0.0.1:0"), ("192.0.2.7", "[::]:0")]
)
def test_grpc_is_narrowed_on_a_loopback_node_alone(
    bound: list[str], node: str, address: str
) -> None:
    replica._grpc_on_loopback(node)
    vars(serve_replica)["add_port_to_grpc_server"](object(), "[::]:0")
    assert bound == [address]


def test_metrics_made_after_the_call_are_counted_in_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """API-12"""
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    share_counters(tmp_path / "counters")

    Counter("asked", "Questions", registry=CollectorRegistry()).inc(3)

    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(tmp_path / "counters"))
    assert registry.get_sample_value("asked_total") == 3
    assert os.environ["PROMETHEUS_MULTIPROC_DIR"] == str(tmp_path / "counters")
