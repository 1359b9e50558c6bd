"""A remote decision model: the ``Ask`` of one deployment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from models.questions.standard import colliding
from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    Question,
    QuestionType,
)
from serve_app.asking.call import Call, Entry, Reply
from serve_app.asking.remote.attempts import ask_remote
from serve_app.asking.remote.cache import RemoteCache
from serve_app.asking.remote.exchange import Send
from serve_app.asking.stage import Clock


class RemoteModel:
    """``model``: its name at the API. ``cache`` is this deployment's alone."""

    def __init__(self, model: str, send: Send, cache: RemoteCache, clock: Clock) -> None:
        self._model = model
        self._send = send
        self._cache = cache
        self._clock = clock

    async def ask(self, call: Call) -> Reply:
        """An ``Ask``. Only what is neither settled nor kept is sent, in the form of the whole
        call."""
        settled = {name: _settled(entry.questions) for name, entry in call.entries.items()}
        known = self._cache.look_up(replace(call, entries=_without(call.entries, settled)))
        reply = await ask_remote(
            replace(call, entries=known.left),
            self._model,
            self._send,
            self._clock,
            batch=len(call.entries) > 1,
        )
        self._cache.keep(known, reply.answers)
        answers: dict[str, dict[str, Answer]] = {}
        for name, entry in call.entries.items():
            found = {**settled[name], **known.kept[name], **reply.answers.get(name, {})}
            answers[name] = {id: found[id] for id in entry.questions}
        return replace(reply, answers=answers)


def _settled(questions: Mapping[str, Question]) -> dict[str, Answer]:
    """What no API need be asked: a choice of one option (LIM-1), and a set whose labels' answers
    would stand under the ids of others (S1-12)."""
    settled: dict[str, Answer] = {
        id: ChoiceAnswer((question.options[0].key,), (1.0,))
        for id, question in questions.items()
        if question.type is QuestionType.CHOICE and len(question.options) == 1
    }
    return settled | dict.fromkeys(colliding(questions), ErrorAnswer(AnswerError.INVALID_QUESTION))


def _without(
    entries: Mapping[str, Entry], settled: Mapping[str, Mapping[str, Answer]]
) -> dict[str, Entry]:
    left = {}
    for name, entry in entries.items():
        asked = {id: q for id, q in entry.questions.items() if id not in settled[name]}
        left[name] = Entry(entry.state, asked)
    return left
