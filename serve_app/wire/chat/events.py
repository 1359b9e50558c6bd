"""A Chat provider's answer as events, whole or as it streams (API-1, API-3, API-5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from models.questions.types import JsonValue
from serve_app.errors import RouterError
from serve_app.wire.chat.deltas import Deltas
from serve_app.wire.chat.failure import read_failure
from serve_app.wire.chat.finish import failed, read_finish, read_usage
from serve_app.wire.frames import Frame
from serve_app.wire.neutral.events import Began, Ended, Event, Failed, Stop

_DONE: Final = "[DONE]"


def read_answer(body: JsonValue) -> list[Event]:
    """The events of a whole completion, of its choice 0; an error body is ``Failed`` alone.

    ``RouterError`` (``provider_failed``): it is no completion.
    """
    if not isinstance(body, dict):
        raise failed("the provider's answer is no object")
    failure = read_failure(body)
    if failure is not None:
        return [failure]
    choice = _choice(body)
    if choice is None:
        raise failed("the provider's answer has no choice")
    deltas = Deltas()
    events: list[Event] = [_began(body), *deltas.take(_numbered(choice.get("message")))]
    events += deltas.close()
    events.append(_ended(read_finish(choice), deltas))
    used = read_usage(body.get("usage"))
    return events if used is None else [*events, used]


class AnswerStream:
    """Takes the frames of a stream and gives the events that they bring. Raises nothing: what is
    no chunk is ``Failed``, after which there are no more events.

    ``Ended`` waits for the chunk that has the usage alone, or for the end, since some servers give
    a finish_reason with every chunk.
    """

    def __init__(self) -> None:
        self._deltas = Deltas()
        self._began = False
        self._finish: Ended | None = None
        self._ended = False
        self._over = False

    def feed(self, frame: Frame) -> list[Event]:
        if frame.data.strip() == _DONE:
            return self._guarded(self._done)
        return self._guarded(lambda: self._chunk(frame))

    def end(self) -> list[Event]:
        """What is missing where the stream is over: nothing after ``[DONE]`` or a failure,
        ``Ended`` where a finish_reason came, otherwise ``Failed``: the answer broke off."""
        return self._guarded(self._broke_off)

    def _guarded(self, events: Callable[[], list[Event]]) -> list[Event]:
        if self._over:
            return []
        try:
            return events()
        except RouterError as error:
            return self._fail(Failed(error.message))

    def _fail(self, failure: Failed) -> list[Event]:
        self._over = True
        return [failure]

    def _chunk(self, frame: Frame) -> list[Event]:
        if not frame.data.strip():
            return []
        chunk = _object(frame.data)
        failure = read_failure(chunk, frame.event)
        if failure is not None:
            return self._fail(failure)
        choice, used = _choice(chunk), read_usage(chunk.get("usage"))
        events: list[Event] = []
        # Azure's first chunk has neither, and no name of a model.
        if not self._began and (choice is not None or used is not None):
            self._began = True
            events.append(_began(chunk))
        if choice is not None and not self._ended:
            events += self._deltas.take(choice.get("delta") or {})
            self._finish = read_finish(choice) or self._finish
        if used is None:
            return events
        if choice is None and self._finish is not None:
            events += self._close()
        return [*events, used]

    def _done(self) -> list[Event]:
        if not self._began:
            raise failed("the provider's stream has no answer")
        events = self._close()
        self._over = True
        return events

    def _broke_off(self) -> list[Event]:
        if self._finish is None:
            raise failed("the provider's stream broke off")
        return self._done()

    def _close(self) -> list[Event]:
        if self._ended:
            return []
        self._ended = True
        return [*self._deltas.close(), _ended(self._finish, self._deltas)]


def _object(data: str) -> dict[str, Any]:
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise failed("the provider's stream is no JSON") from None
    if not isinstance(chunk, dict):
        raise failed("the provider's chunk is no object")
    return chunk


def _choice(body: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Choice 0; one that has no index is it."""
    choices = body.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise failed("the provider's choices are no list of objects")
    return next((choice for choice in choices if choice.get("index") in (None, 0)), None)


def _began(body: dict[str, JsonValue]) -> Began:
    """Lenient: nothing of it is part of the answer."""
    answer_id, model, created = body.get("id"), body.get("model"), body.get("created")
    return Began(
        id=answer_id if isinstance(answer_id, str) else "",
        model=model if isinstance(model, str) else "",
        created=_seconds(created),
    )


def _seconds(created: JsonValue) -> int | None:
    if isinstance(created, float) and created.is_integer():
        return int(created)
    return created if isinstance(created, int) else None


def _ended(finish: Ended | None, deltas: Deltas) -> Ended:
    """Many servers, OpenAI's too where a tool was forced, say ``stop`` after a call; a client that
    acts on the reason would never run it."""
    ended = finish or Ended(Stop.END)
    return Ended(Stop.TOOLS) if ended.stop is Stop.END and deltas.called else ended


def _numbered(message: JsonValue) -> JsonValue:
    """Each call of a whole message is one of its own, even if ids are missing or the same."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return message
    return {**message, "tool_calls": [{**call, "index": i} for i, call in enumerate(calls)]}
