"""The shipped profile, as the benchmark starts it: same variables, another port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from models.questions.presets import preset_question
from models.questions.types import JsonValue, Question, QuestionType

ROOT: Final = Path(__file__).parents[2]
SHIPPED: Final = ROOT / "configs/serve.yaml"

_PRIMARY: Final = {"provider": "model_runtime", "artifact": "embedded"}
"""What stands without ``deployments`` (CFG-3)."""

_PRESETS: Final = {
    "domains": "domain",
    "jailbreak": "jailbreak",
    "safety": "harm",
    "complexity": "complexity",
    "modality": "modality",
    "fact_check": "fact_check",
}
_NOT_ASKED: Final = frozenset(
    {"keywords", "context", "conversation", "input_modality", "metadata"}  # no model
    | {"user_feedbacks", "turn_relation"}  # only where a turn came before
)


@dataclass(frozen=True, slots=True)
class Profile:
    """``serve`` is the Serve config file's content, ``router`` the router configuration's."""

    serve: Mapping[str, Any]
    router: Mapping[str, Any]

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment that the profile gives to the processes of Serve."""
        variables: Mapping[str, str] = self.serve["controller_options"]["runtime_env"]["env_vars"]
        return variables

    def questions(self) -> dict[str, JsonValue]:
        """What the first recipe asks about a prompt, as a System One body says it."""
        asked: dict[str, JsonValue] = {}
        for section, rules in self.router["recipes"][0]["signals"].items():
            if section in _NOT_ASKED:
                continue
            for rule in rules:
                if section == "systemone":
                    asked[rule["name"]] = rule["question"]
                else:
                    preset = _PRESETS[section]
                    asked.setdefault(preset, question_json(preset_question(preset)))
        return asked

    def pinned(self, dtype: str) -> Profile:
        """The same with one number format for the primary model, where the profile lets each
        process choose."""
        settings = self.router.get("global", {})
        catalog = settings.get("model_catalog", {})
        models = catalog.get("deployments") or {"primary": dict(_PRIMARY)}
        primary = models["primary"]
        placed = {**primary, "placement": {**primary.get("placement", {}), "dtype": dtype}}
        catalog = {**catalog, "deployments": {**models, "primary": placed}}
        return replace(
            self, router={**self.router, "global": {**settings, "model_catalog": catalog}}
        )

    def write(self, folder: Path, *, port: int, import_path: str | None = None) -> Path:
        """Writes both files into ``folder`` and returns the Serve config file's path.

        It says ``port``, and another application where one is named.
        """
        router = folder / "router.yaml"
        application = {**self.serve["applications"][0], "args": {"config": str(router)}}
        if import_path is not None:
            application["import_path"] = import_path
        document = {
            **self.serve,
            "http_options": {**self.serve["http_options"], "port": port},
            "applications": [application],
        }
        serve = folder / "serve.yaml"
        yaml = YAML(typ="safe", pure=True)
        yaml.dump(dict(self.router), router)
        yaml.dump(document, serve)
        return serve


def read_profile(serve: Path = SHIPPED) -> Profile:
    """The profile in a Serve config file and the router configuration that it names."""
    yaml = YAML(typ="safe", pure=True)
    document = yaml.load(serve)
    router = ROOT / document["applications"][0]["args"]["config"]
    return Profile(document, yaml.load(router))


def question_json(question: Question) -> dict[str, JsonValue]:
    """The question as a System One body says it, every text written out."""
    asked: dict[str, JsonValue] = {
        "type": question.type.value,
        "instructions": question.instructions,
    }
    if question.type is QuestionType.SCORE:
        asked["criteria"] = [option.text for option in question.options]
    elif question.options:
        asked["criteria"] = {option.key: option.text for option in question.options}
    return asked
