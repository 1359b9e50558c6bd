"""What a client's ``model`` means (API-4, S1-8), and which of its headers rules read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from models.cards.schema import Card
from serve_app.config.schema.document import Config
from serve_app.config.schema.signals import MetadataRule
from serve_app.credentials import is_readable
from serve_app.errors import Code, RouterError
from serve_app.outcome import Outcome
from serve_app.wire.models_list import decision_names

ECHO: Final = 64
"""Most characters of a client's input in a message (S1-9)."""


class Names:
    """The names of a configuration, looked up once per process. ``cards``: by deployment."""

    def __init__(self, config: Config, cards: Mapping[str, Card]) -> None:
        self._recipes = {
            name: point.recipe for point in config.entrypoints for name in point.model_names
        }
        self._chat_models = [model.name for model in config.providers.models]
        self._decision_models: dict[str, str] = {}
        for deployment, card in cards.items():
            for name in decision_names(config, deployment, card):
                self._decision_models.setdefault(name, deployment)
        self._headers = frozenset(
            rule.header.lower()
            for recipe in config.recipes
            for rule in recipe.signals.rules()
            if isinstance(rule, MetadataRule) and rule.header
        )
        self.first_entrypoint = config.entrypoints[0].model_names[0]

    def recipe(self, model: str) -> str | None:
        """The recipe of an entrypoint's name, ``None`` for any other."""
        return self._recipes.get(model)

    def check(self, model: str) -> None:
        """``RouterError`` for what is neither an entrypoint nor a chat model."""
        if model not in self._recipes and model not in self._chat_models:
            known = ", ".join([*self._recipes, *self._chat_models])
            message = f"no model {_echo(model)}; there are: {known}"
            raise RouterError(Code.MODEL_NOT_FOUND, message, loc=("body", "model"))

    def unrouted(self, model: str, config_version: str) -> Outcome:
        """A chat model called by its own name: nothing is decided. ``RouterError`` for no name."""
        self.check(model)
        return Outcome(recipe="", config_version=config_version, models=(model,))

    def decision_model(self, model: str) -> str:
        """The deployment that a decision model's name stands for."""
        deployment = self._decision_models.get(model)
        if deployment is None:
            known = ", ".join(self._decision_models)
            message = f"no decision model {_echo(model)}; there are: {known}"
            raise RouterError(Code.MODEL_NOT_FOUND, message, loc=("body", "model"))
        return deployment

    def headers_read(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Of a client's headers those that some rule reads: no secret, no ``x-vsr-*`` (API-7)."""
        return {
            name: headers[name] for name in self._headers if name in headers and is_readable(name)
        }


def _echo(name: str) -> str:
    return name if len(name) <= ECHO else name[: ECHO - 1] + "…"
