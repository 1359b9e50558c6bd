"""Temperatures by which logits become probabilities (Guo et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from models.embedded.described import content
from models.questions.presets import PRESETS
from models.questions.types import Question, QuestionType


class Calibration:
    """``temperatures``: by type (``"noul"``) and, where a preset has its own, by preset and type
    (``"jailbreak.noul"``); 1 where there is none. Content decides which preset a question is,
    never a name (S1-2)."""

    def __init__(self, temperatures: Mapping[str, float]) -> None:
        self._temperatures = MappingProxyType(dict(temperatures))

    def temperature(self, question: Question) -> float:
        name = name_of(question)
        of_type = self._temperatures.get(question.type.value, 1.0)
        return of_type if name is None else self._temperatures.get(name, of_type)


def name_of(question: Question) -> str | None:
    """``preset.type`` of a preset's question, ``None`` of any other."""
    asked = (question.type, question.instructions)
    return _BY_CONTENT.get(content(question)) or _BY_INSTRUCTIONS.get(asked)


def guards_chunks(question: Question) -> bool:
    """Whether it is a guard that matches a state if it matches a part of it, whoever asks."""
    return name_of(question) in _PART_IS_ENOUGH


_PART_IS_ENOUGH: Final = frozenset({"jailbreak.noul", "harm.noul"})

_BY_CONTENT: Final = {
    content(question): f"{preset}.{kind}"
    for preset, types in PRESETS.items()
    for kind, question in types.items()
    if question.options or kind is QuestionType.NOUL
}
_BY_INSTRUCTIONS: Final[Mapping[tuple[QuestionType, str], str]] = {
    (kind, question.instructions): f"{preset}.{kind}"
    for preset, types in PRESETS.items()
    for kind, question in types.items()
    if not question.options and kind is not QuestionType.NOUL
}
