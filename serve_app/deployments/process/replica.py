"""What a replica's process needs before its deployment is built: ports, transport, counters.

Every deployment calls ``prepare_replica`` first in its constructor: Serve opens the replica's gRPC
port after that, and a metric picks where it is stored when it is made.
"""

from __future__ import annotations

import ipaddress
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import ray
from prometheus_client import values
from ray.serve._private import constants, replica

from serve_app.deployments.process.profile import Profile, current_profile

LOGGERS: Final = ("vsr", "serve_app", "models")
"""The roots of all loggers of the product."""


def prepare_replica() -> Profile:
    """Prepares the process and returns its profile, checked."""
    profile = current_profile()
    profile.check()
    log_to_serve()
    _grpc_on_loopback(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
    share_counters(_session_directory())
    return profile


def log_to_serve() -> None:
    """Lets the product's loggers write to the replica's log, at Serve's ``log_level``.

    The root logger of a replica has no handler: what falls to it goes to stderr, which Serve logs
    as INFO and drops where ``log_level`` is WARNING.
    """
    for name in LOGGERS:
        logging.getLogger(name).parent = logging.getLogger(constants.SERVE_LOGGER_NAME)


def share_counters(directory: Path) -> None:
    """Lets ``prometheus_client`` count into files under ``directory``, summed over processes.

    Metrics made before the call stay in their own process.
    """
    directory.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(directory)
    values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]


def _session_directory() -> Path:
    """One directory a node for one life of Serve: the controller keeps its id over restarts, and
    ``serve shutdown`` followed by a start begins with an empty one.
    """
    context = ray.get_runtime_context()
    controller = ray.get_actor(constants.SERVE_CONTROLLER_NAME, constants.SERVE_NAMESPACE)
    session = Path(context.get_temp_dir()) / context.get_session_name()
    return session / "router-counters" / str(controller._actor_id.hex())


def _grpc_on_loopback(node_address: str) -> None:
    """Binds the replica's gRPC server to a loopback node's address.

    Serve binds it to ``[::]`` without a setting; other nodes must reach it only where the node
    itself is reached from elsewhere.
    """
    if not ipaddress.ip_address(node_address).is_loopback:
        return
    add_port: Callable[[object, str], int] = vars(replica)["add_port_to_grpc_server"]

    def add_loopback_port(server: object, address: str) -> int:
        return add_port(server, address.replace("[::]", node_address))

    vars(replica)["add_port_to_grpc_server"] = add_loopback_port
