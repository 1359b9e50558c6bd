"""Authored items as labelled lines, which ``serve_app eval`` reads.

``python -m models.embedded.train.labelled --split heldout --out FILE``
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from models.embedded.train.corpus import Brief, Split, corpus
from models.embedded.train.examples import Asked, Example, example_of
from models.questions.types import Option, Question, QuestionType

GUARDS: Final = frozenset({"jailbreak", "harm"})


def lines(brief: Brief, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The item's lines; more than one where it has several questions of one name.

    ``tags``: the languages of its brief; and of a guard's items that were written as attacks and
    look-alikes, ``near``.
    """
    example = example_of(brief.brief, item)
    tags = {"language": "/".join(brief.languages)}
    if set(item.get("ask", {})) <= GUARDS and not item.get("questions"):
        tags["near"] = "near"
    left = [*example.asked, *_as_score(example)]
    while left:
        first = {asked.name: asked for asked in reversed(left)}
        left = [asked for asked in left if first[asked.name] is not asked]
        yield {
            "state": example.state,
            "questions": {name: _question(asked) for name, asked in reversed(first.items())},
            "group": brief.brief,
            "tags": tags,
        }


def _as_score(example: Example) -> Iterator[Asked]:
    """The difficulty of a request as a score, whose levels are the options of the choice."""
    for asked in example.asked:
        if asked.name == "complexity":
            options = enumerate(asked.question.options)
            levels = tuple(Option(str(i), option.text) for i, option in options)
            question = Question(QuestionType.SCORE, asked.question.instructions, levels)
            yield Asked("complexity.score", question, asked.truth)


def _question(asked: Asked) -> dict[str, Any]:
    question = asked.question
    raw: dict[str, Any] = {"type": question.type.value, "instructions": question.instructions}
    keys = [option.key for option in question.options]
    if question.type is QuestionType.SCORE:
        raw["levels"] = [option.text or option.key for option in question.options]
    elif keys:
        raw["criteria"] = {option.key: option.text for option in question.options}
    if question.preset is not None and asked.name != "harm.set":
        raw = {"preset": question.preset} if question.preset != "tool_rank" else raw
    truth = asked.truth
    if isinstance(truth, frozenset):
        raw["label"] = [keys[i] for i in sorted(truth)]
    elif isinstance(truth, tuple):
        raw["label"] = [{"label": label, "start": a, "end": b} for label, a, b in truth]
    elif isinstance(truth, bool) or question.type is QuestionType.SCORE:
        raw["label"] = truth
    else:
        raw["label"] = keys[int(truth)]
    return raw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="heldout", choices=get_args(Split))
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as file:
        for brief, item in corpus().of(arguments.split):
            for line in lines(brief, item):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
