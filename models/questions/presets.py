"""The questions the router asks by name (S1-13). Their texts are in ``presets.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from ruamel.yaml import YAML

from models.questions.render import render
from models.questions.types import GUARDS, Option, Question, QuestionType


def preset_question(name: str, type: QuestionType | None = None) -> Question:
    """The preset's question, in its first type or in ``type``; ``KeyError`` if it has none.

    ``tool_rank`` and ``selector`` come without options: the asker gives them.
    """
    types = PRESETS[name]
    return next(iter(types.values())) if type is None else types[type]


def calibrated_threshold(question: Question, thresholds: Mapping[str, float]) -> float | None:
    """Of a model's ``thresholds`` the one of the preset that ``question`` is: under the preset's
    name for its own type, under ``preset.type`` for another form; ``None`` if there is none."""
    preset = question.preset
    if preset is None or preset not in PRESETS:
        return None
    own = next(iter(PRESETS[preset])) is question.type
    return thresholds.get(preset if own else f"{preset}.{question.type}")


def guard_of(question: Question) -> str | None:
    """The name of the guard whose type, instructions and options, in any order, ``question`` has:
    whoever writes a guard out asks that guard (SRV-17). JSON objects have no order.
    """
    guard = _GUARDS.get((question.type, question.instructions))
    if guard is None or frozenset(guard.options) != frozenset(question.options):
        return None
    return guard.preset


def _question(name: str, raw: Mapping[str, Any]) -> Question:
    kind = QuestionType(raw["type"])
    options = tuple(Option(key, render(text)) for key, text in raw.get("criteria", {}).items())
    return Question(kind, raw["instructions"], options, preset=name)


def _load() -> tuple[int, Mapping[str, Mapping[QuestionType, Question]]]:
    text = files("models.questions").joinpath("presets.yaml").read_text("utf-8")
    document = YAML(typ="safe", pure=True).load(text)
    presets = {
        name: MappingProxyType({q.type: q for raw in forms for q in [_question(name, raw)]})
        for name, forms in document["presets"].items()
    }
    return document["version"], MappingProxyType(presets)


_LOADED: Final = _load()

PRESETS_VERSION: Final[int] = _LOADED[0]
PRESETS: Final[Mapping[str, Mapping[QuestionType, Question]]] = _LOADED[1]
"""Preset -> type -> question, the preset's own type first."""

_GUARDS: Final[Mapping[tuple[QuestionType, str], Question]] = {
    (question.type, question.instructions): question
    for name in GUARDS
    for question in PRESETS[name].values()
}
