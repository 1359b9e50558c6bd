"""How Serve moves requests in a process, as its environment says (SRV-3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ray.serve._private import constants

MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The least message size between replicas, above any body with its framing (SRV-3, API-6)."""


class ProfileError(RuntimeError):
    """The process environment holds half a profile: some requests would fail."""


@dataclass(frozen=True, slots=True)
class Profile:
    """``message_bytes``: limit of one message between replicas."""

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
