"""The engines that are compared, loaded as the shipped profile loads them."""

from __future__ import annotations

from enum import StrEnum

from benchmarks.servers.profile import Profile
from models.cards.shipped import shipped_cards
from models.engine import Engine
from serve_app.config.schema.document import Config
from serve_app.deployments.placement.engines import load_engine as load_shipped


class EngineName(StrEnum):
    EMBEDDED = "embedded"
    FIXED = "fixed"


def load_engine(name: EngineName, profile: Profile) -> Engine:
    """Loads it in this process, with the threads and the number format of the profile."""
    if name is EngineName.FIXED:
        from benchmarks.servers.fixed_engine import FixedEngine

        return FixedEngine()
    config = Config.model_validate(profile.router)
    primary = config.global_.model_catalog.local["primary"]
    return load_shipped(shipped_cards()[primary.artifact], primary.placement)
