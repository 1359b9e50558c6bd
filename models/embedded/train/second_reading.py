"""The second, blind reading of authored labels.

``python -m models.embedded.train.second_reading TEXTS.jsonl`` prints the items without their
labels. A reader answers with a line an item: ``{"id": ..., "ask": {preset: label}, "spans":
[[label, text], ...], "answers": [...]}``. What the two readings disagree about is dropped.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from models.embedded.train.examples import item_key, read_items, rendered
from models.questions.types import JsonValue

SPANS: Final = ("pii", "hallucination")


@dataclass
class Agreement:
    """By preset or ``free.<type>``: labels read twice and those that agree."""

    read: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)

    def count(self, name: str, agrees: bool) -> bool:
        self.read[name] += 1
        self.agreed[name] += agrees
        return agrees


def blind(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item as the second reader sees it."""
    ask = item.get("ask", {})
    state = _unmarked(item["state"], "pii" in ask) if set(ask) & set(SPANS) else item["state"]
    shown: dict[str, Any] = {"id": item_key(item), "state": state}
    if ask:
        shown["ask"] = sorted(ask)
    if "tools" in item:
        shown["tools"] = item["tools"]
    if item.get("questions"):
        shown["questions"] = [
            {k: v for k, v in question.items() if k != "answer"} for question in item["questions"]
        ]
    return shown


def agreed(
    item: Mapping[str, Any], reading: Mapping[str, Any] | None, agreement: Agreement
) -> dict[str, Any] | None:
    """The item with the labels that both readings give, or ``None`` if none is left."""
    if reading is None:
        return None
    kept: dict[str, Any] = {}
    given = reading.get("ask", {})
    for name, label in item.get("ask", {}).items():
        if name in SPANS:
            agrees = _same_spans(item, reading, exact=name == "pii")
        else:
            agrees = name in given and _same(label, given[name], as_kinds=name == "harm")
        if agreement.count(name, agrees):
            kept[name] = label
    answers = reading.get("answers", ())
    questions = [
        question
        for i, question in enumerate(item.get("questions", ()))
        if agreement.count(
            f"free.{question['type']}",
            i < len(answers) and _same_answer(question, answers[i]),
        )
    ]
    if not kept and not questions:
        return None
    return {**item, "ask": kept, "questions": questions}


def _same(label: Any, other: Any, *, as_kinds: bool) -> bool:
    if as_kinds:  # harmful or not decides; kinds overlap, and one of them in common is enough
        first, second = set(label), set(other)
        return bool(first) == bool(second) and (not first or bool(first & second))
    return bool(label == other)


def _same_answer(question: Mapping[str, Any], other: Any) -> bool:
    answer = question["answer"]
    if question["type"] == "set":
        return isinstance(other, list) and set(answer) == set(other)
    if question["type"] == "span":
        return isinstance(other, list) and _pairs(answer) == _pairs(other)
    return bool(answer == other)


def _same_spans(item: Mapping[str, Any], reading: Mapping[str, Any], *, exact: bool) -> bool:
    text, spans = rendered(item["state"], labelled=exact)
    own = [(label, text[start:end]) for label, start, end in spans]
    other = [tuple(pair) for pair in reading.get("spans", ())]
    if exact:
        return _pairs(own) == _pairs(other)
    # Where a phrase begins and ends is a matter of taste, which phrase it is is not.
    phrases, others = [p for _, p in own], [p[-1] for p in other]
    return len(phrases) == len(others) and all(
        any(a in b or b in a or _overlap(a, b) for b in others) for a in phrases
    )


def _overlap(first: str, second: str) -> bool:
    words, others = set(first.lower().split()), set(second.lower().split())
    return 2 * len(words & others) >= min(len(words), len(others)) > 0


def _pairs(pairs: Iterable[Any]) -> set[tuple[str, str]]:
    return {(str(label), " ".join(str(text).split())) for label, text in pairs}


def _unmarked(state: JsonValue, labelled: bool) -> JsonValue:
    if isinstance(state, dict):
        return {key: _unmarked(value, labelled) for key, value in state.items()}
    if isinstance(state, list):
        return [_unmarked(value, labelled) for value in state]
    return rendered({"a": state}, labelled=labelled)[0] if isinstance(state, str) else state


def main(path: Path) -> None:
    """In an order of its own: neighbours in a file were written with like labels."""
    for item in sorted(read_items(path), key=item_key):
        print(json.dumps(blind(item), ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
