"""Hypothesis profiles: bounded runs everywhere, reproducible ones in CI."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_shared = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", max_examples=50, **_shared)
settings.register_profile("ci", max_examples=100, derandomize=True, print_blob=True, **_shared)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
