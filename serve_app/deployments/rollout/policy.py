"""What a configuration is to the deployments: a version, the typed document, its models' cards.

It travels as ``user_config``, so a change of policy reaches the replicas without a restart
(CFG-10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from models.cards.schema import Card
from serve_app.config.cards import cards_of
from serve_app.config.loading import Loaded
from serve_app.config.refused import refused
from serve_app.config.schema.document import Config


class PolicyError(ValueError):
    """A policy that a process cannot take. The message names places and variables and holds no
    value: it goes into logs and into Serve's status (CFG-2).
    """


@dataclass(frozen=True, slots=True)
class Policy:
    """``cards``: by deployment of the catalog. ``version``: a hash of the configuration.
    ``shown``: its file as it may be shown, where there is one (CFG-2).
    """

    version: str
    config: Config
    cards: Mapping[str, Card]
    shown: Mapping[str, Any] | None = None

    def user_config(self) -> dict[str, Any]:
        """As JSON. Holds names of environment variables and no secret (CFG-2)."""
        return {
            "version": self.version,
            "config": self.config.model_dump(mode="json", by_alias=True, exclude_unset=True),
            "cards": {
                name: card.model_dump(mode="json", exclude_unset=True)
                for name, card in self.cards.items()
            },
            "shown": self.shown,
        }

    @classmethod
    def of_loaded(cls, loaded: Loaded, shipped: Mapping[str, Card]) -> Policy:
        """``shipped``: cards by artifact."""
        cards = cards_of(loaded.config.global_.model_catalog, shipped)
        return cls(loaded.version, loaded.config, cards, loaded.shown)

    @classmethod
    def of(cls, user_config: Mapping[str, Any]) -> Policy:
        """``PolicyError`` where it does not fit the schema."""
        try:
            return cls(
                user_config["version"],
                Config.model_validate(user_config["config"]),
                {name: Card.model_validate(card) for name, card in user_config["cards"].items()},
                user_config.get("shown"),
            )
        except ValidationError as error:
            why = refused(error)
        raise PolicyError(why)  # here, so that it carries no context with values


def serve_name(model: str) -> str:
    """What Serve calls the deployment of a local model of the catalog."""
    return f"DecisionModel-{model}"
