"""Calls refused whole, and what the refusal names (MRG-4 to MRG-7).

Every refusal follows from the call alone: a server that cannot answer a question refuses each call
that asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from tests.doubles.faults.exchange import Exchange, Table

refusals = Table()

CHOICE: Final = "systemone:topic"
SCORE: Final = "systemone:depth"
GUARD: Final = "preset:jailbreak"
"""The ids of what is refused; the guard's may stand in several entries."""

Place = tuple[str, str]
"""An entry's name (``""`` in a standard request) and a question's id."""


def _places(call: Exchange, id: str | None = None) -> list[Place]:
    """Where the call asks ``id``, or anything."""
    return [
        (name, asked)
        for name, entry in call.entries.items()
        for asked in entry["questions"]
        if id in (None, asked)
    ]


def _first(call: Exchange, id: str) -> list[Place]:
    return _places(call, id)[:1]


def _detail(places: Iterable[Place], type: str = "invalid_question") -> dict[str, Any]:
    problems = []
    for name, id in places:
        at = ["states", name, "questions", id] if name else ["questions", id]
        problems.append({"loc": ["body", *at, "criteria"], "msg": "No.", "type": type})
    return {"detail": problems}


def _unplaced(places: Iterable[Place]) -> dict[str, Any]:
    return _detail(("", id) for _, id in places)


def _error(places: Iterable[Place], code: str = "invalid_question") -> dict[str, Any]:
    ((name, id),) = places
    state = {"state": name} if name else {}
    return {"error": {"code": code, "message": "No.", "question": id} | state}


def _refusing(
    name: str,
    does: str,
    choose: Callable[[Exchange], list[Place]],
    write: Callable[[list[Place]], dict[str, Any]] = _detail,
    status: int = 422,
) -> None:
    """A fault that refuses what ``choose`` finds, and answers where it finds nothing."""

    @refusals(name, does)
    async def act(call: Exchange) -> None:
        places = choose(call)
        if places:
            await call.answer(write(places), status)
        else:
            await call.answer()


_refusing("names-question", "names a choice and its entry", lambda c: _first(c, CHOICE))
_refusing("names-guard", "names a guard in the first entry alone", lambda c: _firsts_guard(c))
_refusing(
    "names-question-400",
    "names a choice and its entry, with status 400",
    lambda c: _first(c, CHOICE),
    status=400,
)
_refusing("names-in-error", "names a choice as error.question", lambda c: _first(c, CHOICE), _error)
_refusing("names-two", "names a choice and a score", lambda c: _first(c, CHOICE) + _first(c, SCORE))
_refusing("names-no-entry", "names a guard, no entry", lambda c: _first(c, GUARD), _unplaced)
_refusing("names-every-entry", "names a guard in entry after entry", lambda c: _first(c, GUARD))
_refusing("names-everything", "names every question", lambda c: _places(c))
_refusing("endless-namer", "names another question every time", lambda c: _places(c)[:1])
_refusing(
    "names-input",
    "names a choice whose entry's input it cannot read",
    lambda c: _first(c, CHOICE),
    lambda places: _detail(places, "invalid_input"),
)
_refusing(
    "names-input-in-error",
    "names a choice whose entry's input it cannot read, as error.question",
    lambda c: _first(c, CHOICE),
    lambda places: _error(places, "invalid_input"),
)
_refusing("names-unasked", "names a question never asked", lambda c: [("", "never")])
_refusing("names-unknown-entry", "names an entry never sent", lambda c: [("9", _any(c))])


def _firsts_guard(call: Exchange) -> list[Place]:
    return [place for place in _first(call, GUARD) if place[0] in ("", "1")]


def _any(call: Exchange) -> str:
    return _places(call)[0][1]


def _whole(name: str, does: str, body: Any) -> None:
    @refusals(name, does)
    async def act(call: Exchange) -> None:
        await call.answer(body, 422)


_whole("names-nothing", "refuses the body, naming nothing in it", {"detail": [{"loc": ["body"]}]})
_whole("names-nothing-text", "refuses in a sentence", {"detail": "No."})
_whole("names-oddly", "names things that are no names", {"detail": [{"loc": [None, {}, 1]}, 3]})


def _then(name: str, does: str, after: Callable[[Exchange], Any]) -> None:
    @refusals(f"names-then-{name}", f"names a choice and its entry, then {does}")
    async def act(call: Exchange) -> None:
        places = _first(call, CHOICE)
        if places:
            await call.answer(_detail(places), 422)
        else:
            await after(call)


_then("hangs", "says nothing", lambda call: call.gone())
_then("500", "fails", lambda call: call.answer({"detail": "No."}, 500))
_then("529", "has no room", lambda call: call.answer({"detail": "No."}, 529))
_then("nothing", "refuses the body", lambda call: call.answer({"detail": [{"loc": ["body"]}]}, 422))


@refusals("names-and-closes", "names a guard in entry after entry, and closes kept connections")
async def names_and_closes(call: Exchange) -> None:
    places = _first(call, GUARD)
    if call.number > 1:
        call.finish()
    elif places:
        await call.answer(_detail(places), 422)
    else:
        await call.answer()


@refusals("names-every-entry-then-500", "names a guard in entry after entry, then fails")
async def names_every_entry_then_500(call: Exchange) -> None:
    if places := _first(call, GUARD):
        await call.answer(_detail(places), 422)
    else:
        await call.answer({"detail": "No."}, 500)


@refusals("names-every-entry-then-others", "names a guard in entry after entry, then all else")
async def names_every_entry_then_others(call: Exchange) -> None:
    await call.answer(_detail((_first(call, GUARD) or _places(call))[:1]), 422)
