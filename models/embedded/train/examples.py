"""Authored items as states with questions and their truths.

An item is a line of ``texts/<brief>.jsonl``: ``state`` as a client would send it, ``ask`` with a
label per preset, ``tools`` beside a ``tool_rank`` label, ``questions`` with answers of their own.
A line may have ``variants``, each an item: other states, or texts to stand in the place of the
state's answer, candidate or request. A preset whose labels differ then has a list of them, the
state's own first, and a question has ``answers``.
Spans are marked where they stand: ``[[LABEL|text]]`` for personal data, ``[[text]]`` for what a
context does not carry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeAlias

from models.questions.parse import parse_question
from models.questions.presets import preset_question
from models.questions.render import render
from models.questions.types import JsonValue, Option, Question, QuestionType

SpanTruth: TypeAlias = tuple[str, int, int]
"""Label, start and end in code points of the rendered state."""

Truth: TypeAlias = bool | int | frozenset[int] | tuple[SpanTruth, ...]
"""Of a noul whether; of a choice and a score the option's index; of a set the indices; of a span
its spans."""

_LABELLED: Final = re.compile(r"\[\[([A-Z_]+)\|(.+?)\]\]", re.S)
_PLAIN: Final = re.compile(r"\[\[(.+?)\]\]", re.S)
_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"


@dataclass(frozen=True)
class Asked:
    """A question about a state and its ``truth``. ``name``: the preset, or ``free.<type>``."""

    name: str
    question: Question
    truth: Truth


@dataclass(frozen=True)
class Example:
    """A rendered ``state`` and what is asked about it. ``key`` names the item in its brief."""

    brief: str
    key: str
    state: str
    asked: tuple[Asked, ...]


def item_key(item: Mapping[str, Any]) -> str:
    """Eight hexadecimal digits that name an item by its state."""
    text = json.dumps(item["state"], ensure_ascii=False, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:8]


def read_items(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield from _varied(json.loads(line))


def _varied(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The items of a line; those of several have it as ``of``, the key of the first."""
    variants = line.pop("variants", ())
    if not variants:
        yield line
        return
    for i, state in enumerate((line["state"], *(_variant(line["state"], v) for v in variants))):
        ask = {
            name: label[i] if isinstance(label, list) and name != "harm" else label
            for name, label in line.get("ask", {}).items()
        }
        questions = [
            {**{k: v for k, v in question.items() if k != "answers"}, "answer": answers[i]}
            for question in line.get("questions", ())
            for answers in [question["answers"]]
        ]
        own = {"state": state, "ask": ask, "questions": questions, "of": item_key(line)}
        yield {**line, **own}


def _variant(state: Any, variant: Any) -> Any:
    if isinstance(state, dict) and isinstance(variant, str):
        changed = next(key for key in ("answer", "candidate", "request") if key in state)
        return {**state, changed: variant}
    return variant


def example_of(brief: str, item: Mapping[str, Any]) -> Example:
    """The item's example; ``ValueError`` where a label fits no question."""
    ask = item.get("ask", {})
    marked = "pii" if "pii" in ask else "hallucination" if "hallucination" in ask else None
    state, spans = rendered(item["state"], labelled=marked == "pii", marked=marked is not None)
    asked = [
        a
        for name, label in item.get("ask", {}).items()
        for a in _preset(name, label, item.get("tools"), spans)
    ]
    asked += [_free(raw, state) for raw in item.get("questions", ())]
    return Example(brief, item_key(item), state, tuple(asked))


def rendered(
    state: JsonValue, *, labelled: bool, marked: bool = True
) -> tuple[str, tuple[SpanTruth, ...]]:
    """The state as the model reads it, its marks taken out, and the spans that they marked.

    An unlabelled mark has the label ``unsupported``; a state that is not ``marked`` may have double
    brackets of its own.
    """
    if not marked:
        return render(state), ()
    labels: list[str] = []

    def mark(match: re.Match[str]) -> str:
        labels.append(match[1] if labelled else "unsupported")
        return f"{_OPEN}{match[2] if labelled else match[1]}{_CLOSE}"

    pattern = _LABELLED if labelled else _PLAIN

    def replaced(value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return pattern.sub(mark, value)
        if isinstance(value, dict):
            return {key: replaced(member) for key, member in value.items()}
        return [replaced(member) for member in value] if isinstance(value, list) else value

    text = render(replaced(state))
    parts: list[str] = []
    spans: list[SpanTruth] = []
    position = start = 0
    for piece in re.split(f"([{_OPEN}{_CLOSE}])", text):
        if piece == _OPEN:
            start = position
        elif piece == _CLOSE:
            spans.append((labels[len(spans)], start, position))
        else:
            parts.append(piece)
            position += len(piece)
    return "".join(parts), tuple(spans)


def _preset(
    name: str, label: Any, tools: Mapping[str, str | None] | None, spans: tuple[SpanTruth, ...]
) -> Iterator[Asked]:
    question = preset_question(name)
    if name == "harm":
        kinds = preset_question(name, QuestionType.SET)
        keys = [option.key for option in kinds.options]
        yield Asked(name, question, bool(label))
        yield Asked("harm.set", kinds, frozenset(map(keys.index, label)))
    elif question.type is QuestionType.SPAN:
        yield Asked(name, question, spans)
    elif question.type is QuestionType.NOUL:
        yield Asked(name, question, bool(label))
    elif name == "tool_rank":
        options = tuple(Option(key, text) for key, text in (tools or {}).items())
        asked = Question(question.type, question.instructions, options, preset=name)
        yield Asked(name, asked, [option.key for option in options].index(label))
    else:
        yield Asked(name, question, [option.key for option in question.options].index(label))


def _free(raw: Mapping[str, Any], state: str) -> Asked:
    question = parse_question({k: v for k, v in raw.items() if k != "answer"}, client=True)
    answer = raw["answer"]
    keys = [option.key for option in question.options]
    truth: Truth
    match question.type:
        case QuestionType.NOUL:
            truth = bool(answer)
        case QuestionType.CHOICE:
            truth = keys.index(str(answer))
        case QuestionType.SCORE:
            truth = int(answer)
        case QuestionType.SET:
            truth = frozenset(map(keys.index, answer))
        case QuestionType.SPAN:
            truth = _occurrences(answer, state)
    return Asked(f"free.{question.type}", question, truth)


def _occurrences(pairs: list[list[str]], state: str) -> tuple[SpanTruth, ...]:
    for _, text in pairs:
        if text not in state:
            raise ValueError(f"the state has no {text!r}")
    found = {
        (label, match.start(), match.end())
        for label, text in pairs
        for match in re.finditer(re.escape(text), state)
    }
    return tuple(sorted(found, key=lambda span: span[1:]))
