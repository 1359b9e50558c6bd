"""A question as the vectors that the head asks with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from models.embedded.head import WIDTH, Kind, Queries
from models.embedded.texts import Vectors
from models.questions.presets import PRESETS
from models.questions.types import Question, QuestionType

Lookup: TypeAlias = Callable[[str], Vectors]
"""A text's unit vector, ``(WIDTH,)``."""

_KINDS: Final = {
    QuestionType.CHOICE: Kind.OPTION,
    QuestionType.SCORE: Kind.LEVEL,
    QuestionType.SET: Kind.LABEL,
    QuestionType.SPAN: Kind.SPAN,
}


_PARTS: Final = re.compile(r"[._/:\-]+|(?<=[a-z0-9])(?=[A-Z])")
"""Between the words of a name of code."""


@dataclass(frozen=True)
class Described:
    """``o`` options, a noul's two outcomes being yes and no: ``option`` ``(o, WIDTH)``,
    ``instructions`` ``(WIDTH,)``, ``kind``, ``learned``, ``place`` ``(o,)``; ``elements``
    ``(e, WIDTH)`` with the first and the number of each option's in ``spans`` ``(o, 2)``."""

    option: Vectors
    instructions: Vectors
    kind: NDArray[np.int64]
    learned: NDArray[np.int64]
    place: NDArray[np.float32]
    elements: Vectors
    spans: NDArray[np.int64]


def elements(text: str) -> tuple[str, ...]:
    """The alternatives of a description: the elements of an array, else the text itself."""
    lines = text.split("\n")
    if len(lines) > 1 and all(line.startswith("- ") for line in lines):
        return tuple(line[2:] for line in lines)
    return (text,)


def in_words(name: str) -> str:
    """A name of code as the words it is made of: ``crm.openTickets`` as ``crm open tickets``."""
    if any(c.isspace() for c in name) or not _PARTS.search(name):
        return name
    return " ".join(_PARTS.sub(" ", name).split()).lower() or name


def texts_of(question: Question) -> tuple[str, ...]:
    """Every text whose vector ``describe`` asks for."""
    texts = [element for side in _sides(question) for element in side]
    if question.instructions and question.instructions not in texts[:1]:
        texts.append(question.instructions)
    return tuple(texts)


def describe(question: Question, lookup: Lookup) -> Described:
    sides = _sides(question)
    count = len(sides)
    option = np.zeros((count, WIDTH), dtype=np.float32)
    found: list[Vectors] = []
    spans = np.zeros((count, 2), dtype=np.int64)
    for i, side in enumerate(sides):
        vectors = [lookup(text) for text in side]
        spans[i] = len(found), len(vectors)
        found += vectors
        if vectors:
            mean = np.mean(vectors, axis=0)
            option[i] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    instructions = (
        lookup(question.instructions)
        if question.instructions
        else np.zeros(WIDTH, dtype=np.float32)
    )
    place = np.linspace(-1, 1, count, dtype=np.float32) if count > 1 else np.zeros(1, np.float32)
    return Described(
        option,
        instructions,
        np.array(_kinds(question, count), dtype=np.int64),
        np.array(learned_of(question, count), dtype=np.int64),
        place,
        np.stack(found) if found else np.zeros((0, WIDTH), dtype=np.float32),
        spans,
    )


def _sides(question: Question) -> list[tuple[str, ...]]:
    """The alternatives that describe each option; of a noul those of yes and of no.

    Where neither is described, the instructions are what yes says, so that they are read like any
    option: how well a text fits the state is learned from all of them together.
    """
    if question.type is not QuestionType.NOUL:
        return [elements(option.text or in_words(option.key)) for option in question.options]
    outcomes = _outcomes_of(question)
    if not outcomes and question.instructions:
        return [(question.instructions,), ()]
    return [outcomes.get("true", ()), outcomes.get("false", ())]


def _outcomes_of(question: Question) -> dict[str, tuple[str, ...]]:
    return {o.key: elements(o.text) for o in question.options if o.text}


def _kinds(question: Question, count: int) -> list[int]:
    if question.type is not QuestionType.NOUL:
        return [_KINDS[question.type]] * count
    outcomes = _outcomes_of(question)
    return [
        Kind.OUTCOME if key in outcomes else bare
        for key, bare in (("true", Kind.YES), ("false", Kind.NO))
    ]


def learned_of(question: Question, count: int) -> list[int]:
    """The index of each option's learned vector, 0 where it has none.

    The options of a preset have one each, and so have those that an asker gives to a preset's
    instructions, together. Content decides, never a name (S1-2).
    """
    known = _LEARNED.get(content(question))
    if known is not None:
        return [known[text] for text in _described(question)]
    shared = _SHARED.get((question.type, question.instructions))
    return [shared or 0] * count


def content(question: Question) -> tuple[object, ...]:
    """What a question asks, in whatever order and under whatever keys (S1-2, S1-4). A guard's text
    asked by anyone else has another digest and the same content (SRV-17)."""
    noul = question.type is QuestionType.NOUL
    options = frozenset[object](question.options if noul else _described(question))
    return question.type, question.instructions, options


def _described(question: Question) -> list[str]:
    """What tells the options apart; of a noul whatever is described of it, that is yes and no."""
    if question.type is QuestionType.NOUL:
        return ["true", "false"]
    return [option.text or option.key for option in question.options]


def _outcomes(question: Question) -> int:
    return 2 if question.type is QuestionType.NOUL else max(1, len(question.options))


def _numbered() -> tuple[
    Mapping[tuple[object, ...], Mapping[str, int]],
    Mapping[tuple[QuestionType, str], int],
    tuple[str, ...],
]:
    by_content: dict[tuple[object, ...], dict[str, int]] = {}
    shared: dict[tuple[QuestionType, str], int] = {}
    names = [""]
    for preset, types in PRESETS.items():
        for kind, question in types.items():
            if kind is QuestionType.CHOICE and not question.options:
                shared[kind, question.instructions] = len(names)
            else:
                numbers = {text: len(names) + i for i, text in enumerate(_described(question))}
                by_content[content(question)] = numbers
            keys = [option.key for option in question.options] or ["true", "false"]
            keys += [str(i) for i in range(len(keys), _outcomes(question))]
            names += [f"{preset}.{kind}.{key}" for key in keys[: _outcomes(question)]]
    return MappingProxyType(by_content), MappingProxyType(shared), tuple(names)


_NUMBERED: Final = _numbered()
_LEARNED: Final = _NUMBERED[0]
_SHARED: Final = _NUMBERED[1]
LEARNED_NAMES: Final = _NUMBERED[2]
"""Preset, type and key of every learned vector; weights belong to one list of names."""


def queries_of(rows: Sequence[Sequence[Described]], device: torch.device | None = None) -> Queries:
    """The options of each row's questions side by side, padded to the longest row."""
    most = max(sum(len(d.kind) for d in row) for row in rows)
    alternatives = max((int(d.spans[:, 1].max()) for row in rows for d in row), default=1)
    n, m = len(rows), max(1, alternatives)
    option = np.zeros((n, most, WIDTH), dtype=np.float32)
    instructions = np.zeros((n, most, WIDTH), dtype=np.float32)
    kind = np.zeros((n, most), dtype=np.int64)
    learned = np.zeros((n, most), dtype=np.int64)
    place = np.zeros((n, most), dtype=np.float32)
    members = np.full((n, most, m), -1, dtype=np.int64)
    found: list[Vectors] = []
    starts: dict[int, int] = {}
    total = 0
    for i, row in enumerate(rows):
        at = 0
        for described in row:
            end = at + len(described.kind)
            option[i, at:end] = described.option
            instructions[i, at:end] = described.instructions
            kind[i, at:end] = described.kind
            learned[i, at:end] = described.learned
            place[i, at:end] = described.place
            start = starts.get(id(described))
            if start is None:
                start = starts[id(described)] = total
                found.append(described.elements)
                total += len(described.elements)
            for j, (first, count) in enumerate(described.spans):
                members[i, at + j, :count] = np.arange(start + first, start + first + count)
            at = end
    together = np.concatenate(found) if total else np.zeros((1, WIDTH), dtype=np.float32)
    arrays = (option, instructions, kind, learned, place, together, members)
    return Queries(*(torch.from_numpy(array).to(device or "cpu") for array in arrays))
