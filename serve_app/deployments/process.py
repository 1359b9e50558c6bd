"""What a replica's process needs before its deployment is built: ports, transport, counters.

Every deployment calls ``prepare_replica`` first in its constructor: Serve opens the replica's gRPC
port after that, and a metric picks where it is stored when it is made.
"""

from __future__ import annotations

import ipaddress
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import ray
from prometheus_client import values
from ray.serve._private import constants, replica

MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The least message size between replicas, above any body with its framing (SRV-3, API-6)."""


LOGGERS: Final = ("vsr", "serve_app", "models")
"""The roots of all loggers of the product."""


class ProfileError(RuntimeError):
    """The process environment holds half a profile: some requests would fail."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How Serve moves requests in this process (SRV-3). ``message_bytes``: limit of one message."""

    grpc: bool
    own_loop: bool
    haproxy: bool
    message_bytes: int

    @property
    def tuned(self) -> bool:
        return self.grpc and not self.own_loop and self.haproxy

    def check(self) -> None:
        """Raises ``ProfileError`` where gRPC would refuse messages that the router accepts."""
        if self.grpc and self.message_bytes < MESSAGE_BYTES:
            raise ProfileError(
                f"gRPC between replicas takes messages up to {self.message_bytes} bytes: set "
                f"RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH={MESSAGE_BYTES}, as configs/env.sh does"
            )


UNTUNED: Final = (
    "Serve runs without the router's profile: answers are right, hops cost about three times as "
    "much. Use configs/serve.yaml, or source configs/env.sh before ray start."
)


def current_profile() -> Profile:
    """The profile as Serve read it from this process's environment."""
    return Profile(
        grpc=constants.RAY_SERVE_USE_GRPC_BY_DEFAULT,
        own_loop=constants.RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP,
        haproxy=constants.RAY_SERVE_ENABLE_HA_PROXY,
        message_bytes=constants.RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH,
    )


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
