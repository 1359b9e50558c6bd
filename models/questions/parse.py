"""Questions from their JSON forms, on the wire and in the configuration (S1-1, S1-5, LIM-1)."""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from dataclasses import replace
from sys import getsizeof
from typing import Any, Final

from models.lru import Lru
from models.questions.limits import OPTION_LIMITS
from models.questions.presets import PRESETS, guard_of, preset_question
from models.questions.render import render
from models.questions.types import JsonValue, Option, Question, QuestionType

ECHO: Final = 64
"""Most characters of the input that a message repeats (S1-9)."""

_TYPES: Final = tuple(QuestionType)
_LIST_FIELD: Final = {
    QuestionType.NOUL: "choices",
    QuestionType.CHOICE: "choices",
    QuestionType.SCORE: "levels",
    QuestionType.SET: "labels",
    QuestionType.SPAN: "labels",
}
_NOUN: Final = {
    QuestionType.NOUL: "outcomes",
    QuestionType.CHOICE: "options",
    QuestionType.SCORE: "levels",
    QuestionType.SET: "labels",
    QuestionType.SPAN: "labels",
}
_FIELDS: Final = ("type", "instructions", "criteria", "preset", "threshold")


REMEMBERED_BYTES: Final = 16_384
"""Of one question as its client wrote it: a longer one is read anew."""

_REMEMBERED: Final[Lru[bytes, Question]] = Lru(1024, 16 * 2**20, 2**17)
"""By what the client wrote: at most 16 MB in a process. A question may take several times what
was written, for texts in memory are wider and structured ones are indented."""


class QuestionError(ValueError):
    """A question that cannot be asked.

    ``path`` leads from the question to what is wrong; ``value`` and ``allowed`` are set where a
    name is not one of the known ones.
    """

    def __init__(
        self,
        path: tuple[str | int, ...],
        message: str,
        *,
        value: str | None = None,
        allowed: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.value = value
        self.allowed = tuple(allowed)


def parse_question(raw: JsonValue, *, client: bool) -> Question:
    """The question that ``raw`` describes, or ``QuestionError``.

    ``client``: unknown fields are ignored and a choice of one option passes (it is answered with
    1.0); in the configuration both are errors. Beside a ``preset``, what ``raw`` gives itself
    stands and the preset fills in the rest, descriptions of options it knows included. A guard
    written out without its name is that guard, name and all (SRV-17).
    """
    if not isinstance(raw, dict):
        raise QuestionError((), "a question is an object")
    try:
        return _parse(raw, client)
    except RecursionError:
        raise QuestionError((), "nested too deeply") from None


def client_question(raw: JsonValue) -> Question:
    """A client's question; one that was asked before is the same instance, with what it knows of
    itself: clients ask the same few questions about ever new states.
    """
    try:
        written = marshal.dumps(raw, 2)  # later versions write equal values in several ways
    except ValueError:
        return parse_question(raw, client=True)  # what JSON cannot hold is refused there
    if len(written) > REMEMBERED_BYTES:
        return parse_question(raw, client=True)
    known = _REMEMBERED.get(written)
    if known is not None:
        return known
    question = parse_question(raw, client=True)
    _REMEMBERED.put(written, question, getsizeof(written) + question.memory)
    return question


def _parse(raw: dict[Any, Any], client: bool) -> Question:
    base = _preset(raw)
    kind = _type(raw, base)
    if base is not None and kind is not base.type:
        base = preset_question(base.preset or "", kind)
    if not client:
        _refuse_unknown(raw, kind)
    given = raw.get("instructions")
    instructions = base.instructions if base and given is None else _text(given, ("instructions",))
    options = _criteria(raw, kind)
    if base is not None:
        options = _filled(options, base)
    if kind is QuestionType.NOUL and not instructions and not options:
        raise QuestionError((), "a noul needs instructions or a described outcome")
    _bound(kind, len(options), client)
    question = Question(
        kind, instructions, options, None if base is None else base.preset, _threshold(raw)
    )
    guard = None if question.guards else guard_of(question)
    return question if guard is None else replace(question, preset=guard)


def _preset(raw: dict[Any, Any]) -> Question | None:
    name = raw.get("preset")
    if name is None:
        return None
    if not isinstance(name, str) or name not in PRESETS:
        raise _unknown(("preset",), "preset", name, PRESETS)
    return preset_question(name)


def _type(raw: dict[Any, Any], base: Question | None) -> QuestionType:
    name = raw.get("type")
    if name is None:
        if base is None:
            raise QuestionError(("type",), f"a question needs a type: {', '.join(_TYPES)}")
        return base.type
    types = _TYPES if base is None else tuple(PRESETS[base.preset or ""])
    if not isinstance(name, str) or name not in types:
        what = "type" if base is None else f"type of the preset {base.preset}"
        raise _unknown(("type",), what, name, types)
    return QuestionType(name)


def _refuse_unknown(raw: dict[Any, Any], kind: QuestionType) -> None:
    allowed = (*_FIELDS, _LIST_FIELD[kind])
    for name in raw:
        if name not in allowed:
            raise _unknown((name if isinstance(name, str) else str(name),), "field", name, allowed)


def _criteria(raw: dict[Any, Any], kind: QuestionType) -> tuple[Option, ...]:
    """In the given order; a noul's outcomes, whose order says nothing, ``true`` first."""
    field = _LIST_FIELD[kind]
    if raw.get(field) is None:
        field = "criteria"
    elif raw.get("criteria") is not None:
        raise QuestionError((field,), f"give criteria or {field}, not both")
    value = raw.get(field)
    if value is None:
        return ()
    if kind is QuestionType.SCORE:
        return _levels(value, field)
    options = _options(value, field, kind)
    if kind is QuestionType.NOUL:
        described = [option for option in options if option.text is not None]
        return tuple(sorted(described, key=lambda option: option.key, reverse=True))
    return options


def _levels(value: JsonValue, field: str) -> tuple[Option, ...]:
    if not isinstance(value, list):
        raise QuestionError((field,), "the levels of a score are a list, lowest first")
    levels = []
    for index, level in enumerate(value):
        if level is None:
            raise QuestionError((field, index), "a level needs a text")
        levels.append(Option(str(index), _text(level, (field, index))))
    return tuple(levels)


def _options(value: JsonValue, field: str, kind: QuestionType) -> tuple[Option, ...]:
    if isinstance(value, dict):
        pairs = [((field, str(key)), key, text) for key, text in value.items()]
    elif isinstance(value, list):
        pairs = [_element(element, (field, index)) for index, element in enumerate(value)]
    else:
        raise QuestionError((field,), f"{field} is a map or a list")
    options: dict[str, Option] = {}
    for path, key, text in pairs:
        if kind is QuestionType.NOUL and isinstance(key, bool):
            key = "true" if key else "false"  # YAML reads an unquoted true as a boolean
        if not isinstance(key, str):
            raise QuestionError(path, f"a key is a string: quote {_echo(key)}")
        if not key:
            raise QuestionError(path, "a key is empty")
        if kind is QuestionType.NOUL and key not in ("true", "false"):
            raise _unknown(path, "outcome of a noul", key, ("true", "false"))
        if key in options:
            raise QuestionError(path, f"{_echo(key)} stands twice")
        options[key] = Option(key, _text(text, path) or None)
    return tuple(options.values())


def _element(element: JsonValue, path: tuple[str | int, ...]) -> tuple[Any, Any, Any]:
    """``(path, key, description)`` of a list's element: a bare key or ``{key, description}``."""
    if isinstance(element, dict):
        if "key" not in element:
            raise QuestionError((*path, "key"), "an option needs a key")
        return path, element["key"], element.get("description")
    return path, element, None


def _filled(options: tuple[Option, ...], base: Question) -> tuple[Option, ...]:
    if not options:
        return base.options
    known = {option.key: option.text for option in base.options}
    return tuple(Option(o.key, known.get(o.key)) if o.text is None else o for o in options)


def _bound(kind: QuestionType, count: int, client: bool) -> None:
    low, high = OPTION_LIMITS[kind]
    if client and kind is QuestionType.CHOICE:
        low = 1
    if not low <= count <= high:
        field = _LIST_FIELD[kind]
        raise QuestionError(
            ("criteria",),
            f"a {kind} takes {low} to {high} {_NOUN[kind]} in criteria or {field}, not {count}",
        )


def _threshold(raw: dict[Any, Any]) -> float | None:
    value = raw.get("threshold")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise QuestionError(("threshold",), "a threshold is a number from 0 to 1")
    return float(value)


def _text(value: JsonValue, path: tuple[str | int, ...]) -> str:
    if value is None or isinstance(value, (str, dict, list)):
        return render(value)
    raise QuestionError(path, "a text is a string, an object, an array or null")


def _unknown(
    path: tuple[str | int, ...], what: str, value: Any, allowed: Iterable[str]
) -> QuestionError:
    names = tuple(allowed)
    message = f"{_echo(value)} is no {what}; known: {', '.join(names)}"
    return QuestionError(
        path, message, value=value if isinstance(value, str) else None, allowed=names
    )


def _echo(value: Any) -> str:
    text = value if isinstance(value, str) else type(value).__name__
    return f"'{text}'" if len(text) <= ECHO - 2 else f"'{text[: ECHO - 3]}…'"
