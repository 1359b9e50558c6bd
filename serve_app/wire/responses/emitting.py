"""Answers for a Responses client of a provider that speaks another format (API-1, API-3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from serve_app.wire.body import json_bytes
from serve_app.wire.frames import frame
from serve_app.wire.neutral.events import Began, Ended, Event, Failed, Used
from serve_app.wire.responses.envelope import Ending, Envelope, response_head, usage
from serve_app.wire.responses.output import Output, Payload

_BROKE_OFF = Failed("the provider's answer broke off")


def whole(events: Iterable[Event], envelope: Envelope) -> dict[str, Any]:
    """The ``Response`` that the events make, ``failed`` with its error if they fail."""
    answer = _Answer(envelope)
    for event in events:
        for _ in answer.take(event):
            pass
    for _ in answer.end():
        pass
    return answer.response()


class EventWriter:
    """The same as a stream. ``end`` is called once, whatever has come: the usage may follow the
    end of an answer, and what ends without one has broken off."""

    def __init__(self, envelope: Envelope) -> None:
        self._answer = _Answer(envelope)
        self._sent = 0

    def feed(self, event: Event) -> bytes:
        return self._write(self._answer.take(event))

    def end(self) -> bytes:
        return self._write(self._answer.end())

    def response(self) -> dict[str, Any]:
        """As it stands; after ``end`` it is what the last event holds."""
        return self._answer.response()

    def _write(self, payloads: Iterator[Payload]) -> bytes:
        written = []
        for payload in payloads:
            data = json_bytes({**payload, "sequence_number": self._sent})
            written.append(frame(data, payload["type"]))
            self._sent += 1
        return b"".join(written)


class _Answer:
    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope
        self._head: dict[str, Any] | None = None
        self._output = Output(envelope.suffix)
        self._ended: Ended | None = None
        self._used: Used | None = None
        self._ending: Ending | None = None

    def response(self) -> dict[str, Any]:
        head = self._head or response_head(self._envelope, "", None)
        return {
            **head,
            **({} if self._ending is None else self._ending.members()),
            "output": self._output.json(),
            "usage": None if self._used is None else usage(self._used),
        }

    def take(self, event: Event) -> Iterator[Payload]:
        if self._ending is not None:
            return
        yield from self._begin(event if isinstance(event, Began) else None)
        match event:
            case Began():
                pass
            case Used():
                self._used = event
            case Ended():
                self._ended = event
            case Failed():
                yield from self._close(Ending(failed=event))
            case _:
                yield from self._output.take(event)

    def end(self) -> Iterator[Payload]:
        if self._ending is not None:
            return
        yield from self._begin(None)
        ended = self._ended
        yield from self._close(Ending(failed=_BROKE_OFF) if ended is None else Ending(ended.stop))

    def _begin(self, began: Began | None) -> Iterator[Payload]:
        if self._head is not None:
            return
        model, created = ("", None) if began is None else (began.model, began.created)
        self._head = response_head(self._envelope, model, created)
        for kind in ("created", "in_progress"):
            yield {"type": f"response.{kind}", "response": self._head}

    def _close(self, ending: Ending) -> Iterator[Payload]:
        """The items that are open are done, but of an answer that failed they are not."""
        if ending.status != "failed":
            yield from self._output.close(ending.status)
        self._ending = ending
        yield {"type": f"response.{ending.status}", "response": self.response()}
