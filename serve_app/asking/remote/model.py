"""A remote decision model: the ``Ask`` of one deployment."""

from __future__ import annotations

from dataclasses import replace

from models.questions.types import Answer
from serve_app.asking.call import Call, Reply
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
        """An ``Ask``. Only what is not kept is sent, in the form of the whole call."""
        known = self._cache.look_up(call)
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
            both = {**known.kept[name], **reply.answers.get(name, {})}
            answers[name] = {id: both[id] for id in entry.questions}
        return replace(reply, answers=answers)
