"""What a configuration is to the deployments: a version, the typed document, its models' cards.

It travels as ``user_config``, so a change of policy reaches the replicas without a restart
(CFG-10); each keeps the last two, since they do not change in the same instant.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from models.cards.schema import Card
from serve_app.config.schema.document import Config

KEPT: Final = 2


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
    def of(cls, user_config: Mapping[str, Any]) -> Policy:
        return cls(
            user_config["version"],
            Config.model_validate(user_config["config"]),
            {name: Card.model_validate(card) for name, card in user_config["cards"].items()},
            user_config.get("shown"),
        )


T = TypeVar("T")


class Versions(Generic[T]):
    """What ``prepare`` makes of each of the last policies, by version."""

    def __init__(self, prepare: Callable[[Policy], T]) -> None:
        self._prepare = prepare
        self._prepared: OrderedDict[str, T] = OrderedDict()

    def add(self, policy: Policy) -> T:
        """The newest from now on."""
        prepared = self._prepare(policy)
        self._prepared[policy.version] = prepared
        self._prepared.move_to_end(policy.version)
        while len(self._prepared) > KEPT:
            self._prepared.popitem(last=False)
        return prepared

    def get(self, version: str) -> T | None:
        return self._prepared.get(version)
