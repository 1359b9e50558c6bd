"""SRV-3: the transport in use is asserted."""

from __future__ import annotations

import pytest

from serve_app.deployments.process.profile import MESSAGE_BYTES, Profile, ProfileError

SHIPPED = Profile(grpc=True, own_loop=False, haproxy=True, message_bytes=MESSAGE_BYTES)
SERVES_OWN = Profile(grpc=False, own_loop=True, haproxy=False, message_bytes=4 * 1024 * 1024)


def test_the_shipped_profile_is_tuned_and_whole() -> None:
    SHIPPED.check()
    assert SHIPPED.tuned


def test_serves_own_settings_work_untuned() -> None:
    SERVES_OWN.check()
    assert not SERVES_OWN.tuned


def test_grpc_that_would_refuse_long_prompts_does_not_start() -> None:
    half = Profile(grpc=True, own_loop=False, haproxy=True, message_bytes=4 * 1024 * 1024)
    with pytest.raises(ProfileError, match="RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH=67108864"):
        half.check()
