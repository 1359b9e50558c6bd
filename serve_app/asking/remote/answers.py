"""The answers in a remote System One response (S1-3, S1-11, S1-12, MRG-7).

What is malformed fails its own question and no other, and is never guessed at (UNK-1). Of extra
answers, extra fields and a bad ``usage`` nothing is read. Nothing a server sends raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from models.questions.render import render
from models.questions.types import (
    Answer,
    AnswerError,
    ErrorAnswer,
    JsonValue,
    NoulAnswer,
    Question,
    QuestionType,
)
from models.questions.wire import set_id
from serve_app.asking.call import Entry
from serve_app.asking.remote.distributions import choice, probability, score
from serve_app.asking.remote.labels import read_set, read_spans

MALFORMED: Final = ErrorAnswer(AnswerError.INVALID_MODEL_OUTPUT)

MOST_TOKENS: Final = 2**53
"""Beyond it a count is nonsense, and no longer exact in a metric's float."""

_VALUES: Final = ("noul", "choice", "score", "probabilities")
"""Members of an answer that is not an error."""


@dataclass(frozen=True, slots=True)
class Answered:
    """``answers``: entry name -> question id -> answer, complete. ``tokens``: entry name -> its
    state's; a total that is not told in parts stands under the first entry.
    """

    answers: Mapping[str, Mapping[str, Answer]]
    tokens: Mapping[str, int]


def read_answers(entries: Mapping[str, Entry], body: JsonValue, *, batch: bool) -> Answered:
    """What ``body``, of a 200, answers to ``entries``, asked in that form."""
    whole = _object(body)
    if batch:
        states = _object(whole.get("states"))
        parts = {name: _object(states.get(name)) for name in entries}
    else:
        parts = dict.fromkeys(entries, whole)
    tokens = {name: _tokens(part) or 0 for name, part in parts.items()}
    total = _tokens(whole)
    if total is not None and total != sum(tokens.values()):
        tokens = dict.fromkeys(parts, 0) | {next(iter(parts)): total}
    return Answered({name: _entry(entry, parts[name]) for name, entry in entries.items()}, tokens)


def _entry(entry: Entry, part: Mapping[str, JsonValue]) -> dict[str, Answer]:
    return {
        id: _answer(id, question, part, entry.state) or MALFORMED
        for id, question in entry.questions.items()
    }


def _answer(
    id: str, question: Question, part: Mapping[str, JsonValue], state: JsonValue
) -> Answer | None:
    answers = _object(part.get("answers"))
    raw = _object(answers.get(id))
    error = _error(raw)
    if error is not None:
        return error
    if question.type is QuestionType.SET:
        return _set(id, question, answers, part.get("sets"))
    if question.type is QuestionType.SPAN:
        present = _noul(raw)
        spans = _object(part.get("spans")).get(id)
        return None if present is None else read_spans(question, spans, present, render(state))
    if not _is(question.type, raw):
        return None
    match question.type:
        case QuestionType.NOUL:
            value = _noul(raw)
            return None if value is None else NoulAnswer(value)
        case QuestionType.CHOICE:
            return choice(question, raw)
        case QuestionType.SCORE:
            return score(question, raw)


def _set(
    id: str, question: Question, answers: Mapping[str, JsonValue], sets: JsonValue
) -> Answer | None:
    """An error of one label is the set's."""
    if sets is not None and not isinstance(sets, dict):
        return None
    labels = {option.key: set_id(id, option.key) for option in question.options}
    nouls = {label: answers[name] for label, name in labels.items() if name in answers}
    for raw in nouls.values():
        error = _error(_object(raw))
        if error is not None:
            return error
    given = None if sets is None else sets.get(id)
    return read_set(question, given, nouls, lambda raw: _noul(_object(raw)))


def _error(raw: Mapping[str, JsonValue]) -> ErrorAnswer | None:
    """An error in the place of an answer. Its message may hold input, and stays behind.

    Some runtimes give it the question's own type, without a value.
    """
    name = raw.get("error")
    if not isinstance(name, str):
        return None
    if raw.get("type") != "error" and any(member in raw for member in _VALUES):
        return None
    try:
        return ErrorAnswer(AnswerError(name))
    except ValueError:
        return ErrorAnswer(AnswerError.UNAVAILABLE)


def _noul(raw: Mapping[str, JsonValue]) -> float | None:
    return probability(raw.get("noul")) if _is(QuestionType.NOUL, raw) else None


def _is(kind: QuestionType, raw: Mapping[str, JsonValue]) -> bool:
    """Whether ``raw`` is of the type, and its ``confidence`` none that is impossible."""
    confidence = raw.get("confidence")
    given = raw.get("type")
    return (
        isinstance(given, str)
        and given == kind
        and (confidence is None or probability(confidence) is not None)
    )


def _tokens(part: Mapping[str, JsonValue]) -> int | None:
    count = _object(part.get("usage")).get("input_tokens")
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}
