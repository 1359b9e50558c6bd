"""What a remote API's failure says, and what of the call it names (MRG-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from models.questions.types import AnswerError, JsonValue
from serve_app.asking.call import Entry
from serve_app.asking.remote.exchange import RemoteAnswer

CONTENT_TOO_LARGE: Final = 413
TOO_MANY_REQUESTS: Final = 429
SERVICE_UNAVAILABLE: Final = 503
OVERLOADED: Final = 529

_CODES: Final = {
    error.value: error
    for error in AnswerError
    if error not in (AnswerError.OVERLOADED, AnswerError.NOT_READY)  # a status says these
}

Place = tuple[str | None, str | None]
"""Entry and question, ``None`` where not named."""


@dataclass(frozen=True, slots=True)
class Named:
    """What an error is about: a question on an entry, an entry alone (``question`` is ``None``),
    or a question on every entry (``entry`` is ``None``)."""

    entry: str | None
    question: str | None
    reason: AnswerError

    @property
    def rejects_entry(self) -> bool:
        """Whether nothing else can be asked about the entry: its input is what was rejected."""
        return self.entry is not None and (
            self.question is None or self.reason is AnswerError.INVALID_INPUT
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """``reason`` is for what of the call is not ``named``."""

    reason: AnswerError
    named: tuple[Named, ...] = ()
    retry_after_s: float | None = None


def read_failure(answer: RemoteAnswer, entries: Mapping[str, Entry], *, batch: bool) -> Failure:
    """``answer`` is none of 200, to ``entries`` asked in that form.

    Only what stands in ``entries`` is named. A standard request's only entry is meant wherever
    none is named.
    """
    body = answer.body if isinstance(answer.body, dict) else {}
    status = answer.status
    if status == OVERLOADED or (status == TOO_MANY_REQUESTS and "overloaded" in _codes(body)):
        return Failure(AnswerError.OVERLOADED, retry_after_s=answer.retry_after_s)
    if status == SERVICE_UNAVAILABLE:
        return Failure(AnswerError.NOT_READY)
    if status == TOO_MANY_REQUESTS or status < 400:
        return Failure(AnswerError.UNAVAILABLE)
    named: dict[Place, Named] = {}
    for place, codes in _places(body, batch):
        found = _asked(place, entries, batch)
        if found is not None and found not in named:
            reason = _known(codes) or _unsaid(status, found)
            named[found] = Named(*found, reason)
    return Failure(_of_the_rest(status, body, bool(named)), tuple(named.values()))


def _of_the_rest(status: int, body: Mapping[str, JsonValue], named: bool) -> AnswerError:
    """A code of ours is about what the error names; only where it names nothing, about all."""
    known = None if named else _known(_codes(body))
    too_large = AnswerError.MAX_LENGTH_EXCEEDED if status == CONTENT_TOO_LARGE else None
    return known or too_large or AnswerError.UNAVAILABLE


def _unsaid(status: int, place: Place) -> AnswerError:
    """The reason of what an error names without a code of ours."""
    if status >= 500:
        return AnswerError.UNAVAILABLE
    return AnswerError.INVALID_INPUT if place[1] is None else AnswerError.INVALID_QUESTION


def _codes(body: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Wherever servers write what kind of error it is, the most exact first."""
    error, detail = body.get("error"), body.get("detail")
    codes: list[JsonValue] = []
    if isinstance(error, dict):
        codes += [error.get("code"), error.get("type")]
    if isinstance(detail, dict):
        codes.append(detail.get("error_type"))
    codes.append(body.get("error_type"))
    if isinstance(detail, list):
        codes += [one.get("type") for one in detail if isinstance(one, dict)]
    return codes


def _known(codes: Iterable[JsonValue]) -> AnswerError | None:
    known = (_CODES[code] for code in codes if isinstance(code, str) and code in _CODES)
    return next(known, None)


def _places(
    body: Mapping[str, JsonValue], batch: bool
) -> Iterator[tuple[Place, tuple[JsonValue, ...]]]:
    """What is named, asked or not, each with the codes that say why."""
    error, detail = body.get("error"), body.get("detail")
    if isinstance(error, dict):
        entry, question = error.get("state"), error.get("question")
        place = (_name(entry), _name(question))
        if place != (None, None):
            yield place, (error.get("code"), error.get("type"))
    for one in detail if isinstance(detail, list) else ():
        if isinstance(one, dict):
            found = _located(one.get("loc"), batch)
            if found is not None:
                yield found, (one.get("type"),)


def _located(loc: JsonValue, batch: bool) -> Place | None:
    """A standard request has no ``states``; a batch's own ``state`` is none of its entries'."""
    match loc:
        case ["body", "states", str(entry), "questions", str(question), *_] if batch:
            return entry, question
        case ["body", "states", str(entry)] | ["body", "states", str(entry), "state", *_]:
            return entry, None
        case ["body", "questions", str(question), *_]:
            return None, question
        case ["body", "state", *_]:
            return None, None
    return None


def _asked(place: Place, entries: Mapping[str, Entry], batch: bool) -> Place | None:
    """``place`` by the names of ``entries``, ``None`` if it is not among them."""
    entry, question = place
    if not batch:
        if entry is not None and question is None:
            return None  # no entry has a name there
        (entry,) = entries
    if question is None:
        return (entry, None) if entry in entries else None
    if entry is None:
        asked = any(question in one.questions for one in entries.values())
    else:
        asked = entry in entries and question in entries[entry].questions
    return (entry, question) if asked else None


def _name(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
