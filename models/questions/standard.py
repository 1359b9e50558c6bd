"""The body of a System One call, and the response to it (S1-10, S1-11, S1-12).

A call is a standard request (one state and its questions) or a batch of several, by name. What is
wrong with the shape, or a call without one valid question, fails it whole; a bad question among
good ones is answered in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from models.questions.parse import ECHO, QuestionError, client_question
from models.questions.presets import calibrated_threshold
from models.questions.render import render
from models.questions.types import (
    Answer,
    AnswerError,
    ErrorAnswer,
    JsonValue,
    Question,
    QuestionType,
)
from models.questions.wire import Members, error_json, set_id

MAX_DEADLINE_MS: Final = 3_600_000
MAX_PROBLEMS: Final = 32
"""Most problems that one refusal lists."""

_SINGLE: Final = ""
"""The name of a standard request where a batch has its entries' names, which are not empty."""

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """``loc`` leads from ``"body"`` to what is wrong, each part cut at ``ECHO`` characters."""

    loc: Loc
    message: str
    type: str

    def json(self) -> dict[str, Any]:
        return {"loc": list(self.loc), "msg": self.message, "type": self.type}


class RequestError(ValueError):
    """A call that is refused whole (422): wrong shape, or no question in it is valid."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class StandardRequest:
    """One state, rendered and as it was ``given``, and what became of its questions, by id in the
    body's order.
    """

    state: str
    given: JsonValue
    questions: Mapping[str, Question | ErrorAnswer]

    @property
    def asked(self) -> tuple[Question, ...]:
        """The valid questions: what a model is asked."""
        return tuple(q for q in self.questions.values() if isinstance(q, Question))

    @property
    def asked_by_id(self) -> dict[str, Question]:
        return {id: q for id, q in self.questions.items() if isinstance(q, Question)}


@dataclass(frozen=True, slots=True)
class SystemOneBody:
    """A parsed call. ``requests``: entry name -> request; one under ``""`` if it is no batch."""

    model: str
    requests: Mapping[str, StandardRequest]
    batch: bool
    deadline_ms: int | None = None
    return_meta: bool = False

    def asked(self) -> list[tuple[str, tuple[Question, ...]]]:
        """``(state, questions)`` of each request that has a valid question, in order: the rows
        a model is asked, and the order ``response`` takes their answers in."""
        return [(r.state, asked) for r in self.requests.values() if (asked := r.asked)]


def parse_body(body: JsonValue, *, default_model: str | None = None) -> SystemOneBody:
    """The call that a decoded JSON body describes, or ``RequestError``.

    ``default_model`` stands in for an absent ``model``; without it ``model`` is required.
    """
    if not isinstance(body, dict):
        raise RequestError([_problem(("body",), "the body is an object", "type_error")])
    problems: list[Problem] = []
    model = _model(body, default_model, problems)
    deadline_ms, return_meta = _options(body.get("options"), problems)
    batch = "states" in body
    requests: dict[str, StandardRequest] = {}
    faults: list[Problem] = []
    if batch:
        for name, entry in _entries(body, problems):
            _read(entry, ("body", "states", name), name, requests, problems, faults)
    else:
        _read(body, ("body",), _SINGLE, requests, problems, faults)
    if problems:
        raise RequestError(problems[:MAX_PROBLEMS])
    if not any(request.asked for request in requests.values()):
        raise RequestError(faults[:MAX_PROBLEMS])
    return SystemOneBody(model, requests, batch, deadline_ms, return_meta)


def response(
    body: SystemOneBody,
    model: str,
    answers: Iterable[Sequence[Answer]],
    tokens: Iterable[int],
    *,
    thresholds: Mapping[str, float] | None = None,
    meta: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The response's JSON.

    ``model``: the resolved id. ``answers`` and ``tokens`` are in the order of ``body.asked()``;
    ``thresholds`` are the model's calibrated ones by preset. ``meta`` is given back as ``x_meta``
    to a caller who asked for it.
    """
    rows = iter(zip(answers, tokens, strict=True))
    calibrated = thresholds or {}
    parts = {name: _answered(request, rows, calibrated) for name, request in body.requests.items()}
    if body.batch:
        total = sum(part["usage"]["input_tokens"] for part in parts.values())
        result: dict[str, Any] = {"model": model, "states": parts, "usage": _usage(total)}
    else:
        result = {"model": model, **parts[_SINGLE]}
    if body.return_meta and meta is not None:
        result["x_meta"] = dict(meta)
    return result


def _answered(
    request: StandardRequest,
    rows: Iterable[tuple[Sequence[Answer], int]],
    thresholds: Mapping[str, float],
) -> dict[str, Any]:
    answers: Sequence[Answer] = ()
    tokens = 0
    if request.asked:
        answers, tokens = next(iter(rows))
    given = iter(answers)
    members = Members()
    for id, question in request.questions.items():
        if isinstance(question, ErrorAnswer):
            members.answers[id] = error_json(question)
        else:
            members.add(question, id, next(given), calibrated_threshold(question, thresholds))
    return {**members.json(), "usage": _usage(tokens)}


def _usage(tokens: int) -> dict[str, int]:
    return {"input_tokens": tokens, "output_tokens": 0}


def _model(body: dict[str, Any], default: str | None, problems: list[Problem]) -> str:
    model = body.get("model", default)
    if model is None and "model" not in body:
        problems.append(_missing(("body", "model")))
    elif not isinstance(model, str) or not model:
        problems.append(_problem(("body", "model"), "a model is a name", "string_type"))
    else:
        return model
    return ""


def _options(options: JsonValue, problems: list[Problem]) -> tuple[int | None, bool]:
    if options is None:
        return None, False
    loc = ("body", "options")
    if not isinstance(options, dict):
        problems.append(_problem(loc, "options are an object", "type_error"))
        return None, False
    deadline = options.get("deadline_ms")
    if deadline is not None and (type(deadline) is not int or not 0 < deadline <= MAX_DEADLINE_MS):
        message = f"deadline_ms is a whole number from 1 to {MAX_DEADLINE_MS}"
        problems.append(_problem((*loc, "deadline_ms"), message, "value_error"))
    meta = options.get("return_meta")
    if meta is not None and not isinstance(meta, bool):
        problems.append(
            _problem((*loc, "return_meta"), "return_meta is true or false", "bool_type")
        )
    return deadline, meta is True


def _entries(body: dict[str, Any], problems: list[Problem]) -> list[tuple[str, JsonValue]]:
    for name in ("state", "questions"):
        if body.get(name) is not None:
            message = f"a batch has no {name} of its own: each of its states has"
            problems.append(_problem(("body", name), message, "value_error"))
    states = body["states"]
    if not isinstance(states, dict) or not states:
        message = "states are an object with at least one entry"
        problems.append(_problem(("body", "states"), message, "type_error"))
        return []
    if _SINGLE in states:
        problems.append(_problem(("body", "states", ""), "an entry's name is empty", "value_error"))
    return list(states.items())


def _read(
    entry: JsonValue,
    loc: Loc,
    name: str,
    requests: dict[str, StandardRequest],
    problems: list[Problem],
    faults: list[Problem],
) -> None:
    """Reads one request; ``problems`` are of its shape, ``faults`` of its questions."""
    if not isinstance(entry, dict):
        problems.append(_problem(loc, "an entry is an object", "type_error"))
        return
    state = _state(entry, loc, problems)
    raw = entry.get("questions")
    at = (*loc, "questions")
    if "questions" not in entry:
        problems.append(_missing(at))
    elif not isinstance(raw, dict) or not raw:
        problems.append(_problem(at, "questions are an object with at least one", "type_error"))
    elif "" in raw:
        problems.append(_problem((*at, ""), "a question's id is empty", "value_error"))
    else:
        questions = _questions(raw, at, faults)
        requests[name] = StandardRequest(state, entry.get("state"), questions)


def _state(entry: dict[str, Any], loc: Loc, problems: list[Problem]) -> str:
    at = (*loc, "state")
    state = entry.get("state")
    if "state" not in entry:
        problems.append(_missing(at))
    elif not isinstance(state, (str, dict, list)):
        problems.append(_problem(at, "a state is a string, an object or an array", "type_error"))
    else:
        try:
            return render(state)
        except RecursionError:
            problems.append(_problem(at, "nested too deeply", "too_deep"))
    return ""


def _questions(
    raw: dict[str, JsonValue], at: Loc, faults: list[Problem]
) -> dict[str, Question | ErrorAnswer]:
    parsed: dict[str, Question | ErrorAnswer] = {}
    for id, question in raw.items():
        try:
            parsed[id] = client_question(question)
        except QuestionError as error:
            parsed[id] = ErrorAnswer(AnswerError.INVALID_QUESTION, error.message)
            faults.append(_problem((*at, id, *error.path), error.message, "invalid_question"))
    for id in colliding(parsed):
        message = "a label's answer would stand under the id of another answer"
        parsed[id] = ErrorAnswer(AnswerError.INVALID_QUESTION, message)
        faults.append(_problem((*at, id), message, "invalid_question"))
    return parsed


def colliding(
    questions: Mapping[str, Question | ErrorAnswer] | Mapping[str, Question],
) -> list[str]:
    """Ids of sets one of whose ``<id>.<label>`` is another question's or another set's."""
    sets = {
        id: [set_id(id, option.key) for option in question.options]
        for id, question in questions.items()
        if isinstance(question, Question) and question.type is QuestionType.SET
    }
    if not sets:
        return []
    taken = Counter(name for names in sets.values() for name in names)
    taken.update(questions.keys())
    return [id for id, names in sets.items() if any(taken[name] > 1 for name in names)]


def _missing(loc: Loc) -> Problem:
    return _problem(loc, f"{loc[-1]} is missing", "missing")


def _problem(loc: Loc, message: str, type: str) -> Problem:
    short = tuple(p if isinstance(p, int) or len(p) <= ECHO else p[: ECHO - 1] + "…" for p in loc)
    return Problem(short, message, type)
