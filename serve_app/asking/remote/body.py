"""A call as the body of a remote System One request (S1-10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.questions.types import Question, QuestionType
from serve_app.asking.call import Entry


def call_body(entries: Mapping[str, Entry], model: str, *, batch: bool) -> dict[str, Any]:
    """A batch names its entries; a standard request is its only one.

    Questions go out whole: no server needs to know a preset, and strict ones refuse fields they
    do not know. Thresholds are the asker's to apply.
    """
    if batch:
        return {"model": model, "states": {name: _entry(e) for name, e in entries.items()}}
    (only,) = entries.values()
    return {"model": model, **_entry(only)}


def question_json(question: Question) -> dict[str, Any]:
    """The form that every server reads: options as ``criteria``, absent texts left out."""
    raw: dict[str, Any] = {"type": question.type.value}
    if question.instructions:
        raw["instructions"] = question.instructions
    if question.type is QuestionType.SCORE:
        raw["criteria"] = [option.text or "" for option in question.options]
    elif question.options or question.type is not QuestionType.NOUL:
        raw["criteria"] = {option.key: option.text for option in question.options}
    return raw


def _entry(entry: Entry) -> dict[str, Any]:
    questions = {id: question_json(question) for id, question in entry.questions.items()}
    return {"state": entry.state, "questions": questions}
