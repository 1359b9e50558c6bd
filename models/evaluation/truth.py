"""Labelled lines: states, questions about them, and the true answers (SRV-19).

A line is ``{"state": …, "questions": {id: {question as on the wire, "label": truth}}}``, with
``group`` and ``tags`` where there are any. The truth is by type: of a noul ``true`` or ``false``,
of a choice the key, of a score the index of the level, of a set the list of keys, of a span a
list of ``{label, start, end}`` in code points of the rendered state, or of ``[label, text]``,
which marks every occurrence of the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from models.questions.parse import QuestionError, client_question
from models.questions.render import render
from models.questions.standard import colliding
from models.questions.types import JsonValue, Question, QuestionType

_MEMBERS: Final = ("state", "questions", "group", "tags")
_ECHO: Final = 48
"""Most characters of the data that a message repeats."""


@dataclass(frozen=True, order=True)
class Mark:
    """A true span: code points of the rendered state, ``end`` exclusive."""

    start: int
    end: int
    label: str


Truth: TypeAlias = bool | str | int | frozenset[str] | tuple[Mark, ...]
"""By type: noul, choice, score, set, span."""


@dataclass(frozen=True)
class Labelled:
    question: Question
    truth: Truth


@dataclass(frozen=True)
class Example:
    """A line, counted from 1. ``text``: its state, rendered. Of ``tags`` given as an object a
    member stands as ``name=value``."""

    line: int
    state: JsonValue
    text: str
    questions: Mapping[str, Labelled]
    group: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """``path`` leads to what is wrong, ``""`` for the line as a whole."""

    line: int
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (str(self.line), self.path, self.message)))


class DataErrors(ValueError):  # noqa: N818 - it is many
    """Data that cannot be used: every problem in it, by line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class _Wrong(Exception):  # noqa: N818 - says what is wrong
    def __init__(self, path: Iterable[str | int], message: str) -> None:
        super().__init__(message)
        self.path = ".".join(map(str, path))


def read_examples(lines: Iterable[str | bytes]) -> tuple[Example, ...]:
    """The examples in JSON Lines, or ``DataErrors`` with all that is wrong. Blank lines pass.

    An id has one type throughout: its answers are counted together.
    """
    examples: list[Example] = []
    problems: list[Problem] = []
    kinds: dict[str, tuple[QuestionType, int]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            raw = _decoded(line)
            example = parse_example(raw, number, problems)
        except _Wrong as wrong:
            problems.append(Problem(number, wrong.path, str(wrong)))
            continue
        for id, labelled in example.questions.items():
            kind, first = kinds.setdefault(id, (labelled.question.type, number))
            if kind is not labelled.question.type:
                message = f"a {labelled.question.type}, and on line {first} a {kind}"
                problems.append(Problem(number, f"questions.{id}", message))
        examples.append(example)
    if not examples and not problems:
        problems.append(Problem(1, "", "there is no line"))
    if problems:
        raise DataErrors(problems)
    return tuple(examples)


def parse_example(raw: JsonValue, line: int, problems: list[Problem]) -> Example:
    """What a decoded line says. What is wrong with single questions goes to ``problems``."""
    if not isinstance(raw, dict):
        raise _Wrong((), "a line is an object")
    for name in raw:
        if name not in _MEMBERS:
            raise _Wrong((_short(name),), f"no member of a line; known: {', '.join(_MEMBERS)}")
    state, text = _state(raw)
    questions = raw.get("questions")
    if not isinstance(questions, dict) or not questions or "" in questions:
        raise _Wrong(("questions",), "an object with at least one question, by its id")
    found: dict[str, Labelled] = {}
    for id, question in questions.items():
        try:
            found[id] = _labelled(question, text)
        except _Wrong as wrong:
            path = ".".join(filter(None, ("questions", id, wrong.path)))
            problems.append(Problem(line, path, str(wrong)))
    for id in colliding({id: labelled.question for id, labelled in found.items()}):
        message = "a label's answer would stand under the id of another question"
        problems.append(Problem(line, f"questions.{id}", message))
    return Example(line, state, text, found, _group(raw), tuple(_tags(raw)))


def _decoded(line: str | bytes) -> JsonValue:
    try:
        return json.loads(line, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _Wrong((), f"no JSON at column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError:
        raise _Wrong((), "it is no UTF-8 text") from None
    except RecursionError:
        raise _Wrong((), "nested too deeply") from None
    except ValueError:
        raise _Wrong((), "a number of it has too many digits") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A member that stands twice would be lost unseen."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Wrong((), f"'{_short(twice)}' stands twice in an object")
    return found


def _no_number(name: str) -> Any:
    raise _Wrong((), f"{name} is no JSON number")


def _state(raw: Mapping[str, Any]) -> tuple[JsonValue, str]:
    state = raw.get("state")
    if not isinstance(state, (str, dict, list)):
        raise _Wrong(("state",), "a state is a string, an object or an array")
    try:
        text = render(state)
        text.encode()
    except RecursionError:
        raise _Wrong(("state",), "nested too deeply") from None
    except UnicodeEncodeError:
        raise _Wrong(("state",), "half of a surrogate pair stands alone") from None
    return state, text


def _group(raw: Mapping[str, Any]) -> str | None:
    group = raw.get("group")
    if group is None or isinstance(group, str):
        return group
    if isinstance(group, int) and not isinstance(group, bool):
        return str(group)
    raise _Wrong(("group",), "a group is a name or a number")


def _tags(raw: Mapping[str, Any]) -> Iterator[str]:
    tags = raw.get("tags")
    if tags is None:
        return
    if isinstance(tags, dict):
        tags = [f"{name}={v}" if isinstance(v, str) else None for name, v in tags.items()]
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
        raise _Wrong(("tags",), "tags are a list of names, or an object of strings")
    yield from dict.fromkeys(tags)


def _labelled(raw: JsonValue, text: str) -> Labelled:
    if not isinstance(raw, dict):
        raise _Wrong((), "a question is an object")
    if "label" not in raw:
        raise _Wrong(("label",), "the truth is missing")
    try:
        question = client_question({name: v for name, v in raw.items() if name != "label"})
    except QuestionError as error:
        raise _Wrong(error.path, error.message) from None
    return Labelled(question, _truth(question, raw["label"], text))


def _truth(question: Question, label: JsonValue, text: str) -> Truth:
    keys = [option.key for option in question.options]
    match question.type:
        case QuestionType.NOUL:
            if not isinstance(label, bool):
                raise _Wrong(("label",), "the truth of a noul is true or false")
            return label
        case QuestionType.CHOICE:
            return _key(label, keys, ("label",))
        case QuestionType.SCORE:
            if type(label) is not int or not 0 <= label < len(keys):
                raise _Wrong(("label",), f"the truth of a score is a level, 0 to {len(keys) - 1}")
            return label
        case QuestionType.SET:
            if not isinstance(label, list):
                raise _Wrong(("label",), "the truth of a set is the list of its labels")
            return frozenset(_key(key, keys, ("label", i)) for i, key in enumerate(label))
        case QuestionType.SPAN:
            if not isinstance(label, list):
                raise _Wrong(("label",), "the truth of a span is a list of spans")
            marks = {m for i, raw in enumerate(label) for m in _marks(raw, keys, text, i)}
            return tuple(sorted(marks))


def _marks(raw: JsonValue, keys: Sequence[str], text: str, index: int) -> Iterator[Mark]:
    at = ("label", index)
    if isinstance(raw, list) and len(raw) == 2:
        label = _key(raw[0], keys, (*at, 0))
        yield from (Mark(start, end, label) for start, end in _occurrences(raw[1], text, (*at, 1)))
    elif isinstance(raw, dict):
        label = _key(raw.get("label"), keys, (*at, "label"))
        start, end = raw.get("start"), raw.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise _Wrong(at, f"start and end count code points: 0 <= start < end <= {len(text)}")
        said = raw.get("text", text[start:end])
        if said != text[start:end]:
            raise _Wrong(at, f"at {start} to {end} stands '{_short(text[start:end])}'")
        yield Mark(start, end, label)
    else:
        raise _Wrong(at, "a span is {label, start, end} or [label, text]")


def _occurrences(part: JsonValue, text: str, path: tuple[str | int, ...]) -> list[tuple[int, int]]:
    """Left to right, none over another."""
    if not isinstance(part, str) or not part:
        raise _Wrong(path, "the text of a span is a string that is not empty")
    found: list[tuple[int, int]] = []
    start = text.find(part)
    while start >= 0:
        found.append((start, start + len(part)))
        start = text.find(part, start + len(part))
    if not found:
        raise _Wrong(path, f"'{_short(part)}' does not stand in the state")
    return found


def _key(label: JsonValue, keys: Sequence[str], path: tuple[str | int, ...]) -> str:
    if not isinstance(label, str) or label not in keys:
        said = f"'{_short(label)}'" if isinstance(label, str) else "this"
        listed = ", ".join(map(_short, keys[:16])) + (", …" if len(keys) > 16 else "")
        raise _Wrong(path, f"{said} is none of the question's: {listed}")
    return label


def _short(text: str) -> str:
    text = " ".join(text.encode(errors="replace").decode().split())
    return text if len(text) <= _ECHO else text[: _ECHO - 1] + "…"
