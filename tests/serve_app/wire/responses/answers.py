"""Answers as neutral events, what they say in sum, and the SDK that reads what they become."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx
from hypothesis import strategies as st
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from serve_app.wire.frames import Frame, Frames
from serve_app.wire.neutral.events import (
    Began,
    CallBegan,
    CallDelta,
    Ended,
    Event,
    Failed,
    ReasoningDelta,
    RefusalDelta,
    Stop,
    TextDelta,
    Used,
)
from serve_app.wire.responses.emitting import EventWriter
from serve_app.wire.responses.envelope import Envelope
from serve_app.wire.responses.events import AnswerStream

STREAM_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)

REQUEST: dict[str, Any] = {
    "model": "auto",
    "input": "hello",
    "instructions": "be kind",
    "tools": [{"type": "function", "name": "look", "parameters": {}, "strict": False}],
    "tool_choice": "auto",
    "temperature": 0.5,
    "metadata": {"tier": "gold"},
}
ENVELOPE = Envelope("resp_1", 1_700_000_000, REQUEST)
BEGAN = Began("resp_1", "gemma", 1_700_000_001)

TEXT = st.text(min_size=1, max_size=6)
NAMES = st.text("abcdefghij_", min_size=1, max_size=6)


def written(events: Iterable[Event], envelope: Envelope = ENVELOPE) -> bytes:
    writer = EventWriter(envelope)
    return b"".join([*(writer.feed(event) for event in events), writer.end()])


def frames(data: bytes) -> list[Frame]:
    return Frames().feed(data)


def read_stream(data: bytes) -> list[Event]:
    stream = AnswerStream()
    return [*(e for frame in frames(data) for e in stream.feed(frame)), *stream.end()]


def sdk(data: bytes, kind: str = "text/event-stream", status: int = 200) -> OpenAI:
    """A client whose every request is answered so."""
    answer = httpx.Response(status, content=data, headers={"content-type": kind})
    client = httpx.Client(transport=httpx.MockTransport(lambda _: answer))
    return OpenAI(api_key="-", base_url="http://router/v1", http_client=client, max_retries=0)


def validated(response: dict[str, Any]) -> Response:
    return Response.model_validate(response)


def collected(events: Iterable[Event]) -> list[Any]:
    """Each part whole, in the order of their numbers; then what is of the answer."""
    parts: dict[int, list[Any]] = {}
    rest: list[Any] = []
    for event in events:
        match event:
            case CallBegan(part, id, name):
                parts[part] = ["call", id, name, ""]
            case CallDelta(part, text) | TextDelta(part, text) | RefusalDelta(part, text):
                parts.setdefault(part, [type(event).__name__, ""])[-1] += text
            case ReasoningDelta(part, text, signature, hidden, origin):
                known = parts.setdefault(part, ["reasoning", None, None, None, ""])
                known[1], known[2] = signature or known[1], hidden or known[2]
                known[3] = origin or known[3]
                known[4] += text
            case _:
                rest.append(event)
    return [*(parts[part] for part in sorted(parts)), *rest]


@st.composite
def deltas(draw: st.DrawFn) -> list[Event]:
    """Parts one after another, but calls side by side, their arguments interleaved."""
    events: list[Event] = []
    part, called = 0, 0
    for kind in draw(st.lists(st.sampled_from(["text", "refusal", "reasoning", "calls"]))):
        pieces = draw(st.lists(TEXT, min_size=1, max_size=3))
        if kind == "text":
            events += [TextDelta(part, piece) for piece in pieces]
        elif kind == "refusal":
            events += [RefusalDelta(part, piece) for piece in pieces]
        elif kind == "reasoning":
            events += [ReasoningDelta(part, piece) for piece in pieces]
            state = draw(st.sampled_from([(None, None), ("sig", None), (None, "h"), ("s", "h")]))
            if state != (None, None):
                events.append(ReasoningDelta(part, "", *state))
        else:
            count = draw(st.integers(1, 3))
            for offset in range(count):
                events.append(CallBegan(part + offset, f"call_{called}", draw(NAMES)))
                called += 1
            for piece in pieces * 2:
                events.append(CallDelta(part + draw(st.integers(0, count - 1)), piece))
            part += count - 1
        part += 1
    return events


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """Whole answers that this format can say."""
    said = draw(deltas())
    calls = any(isinstance(event, CallBegan) for event in said)
    end = Stop.TOOLS if calls else Stop.END
    count = st.integers(0, 999)
    used = draw(st.lists(st.builds(Used, count, count, count, count, count), max_size=1))
    if draw(st.booleans()):
        if said and isinstance(said[-1], ReasoningDelta) and not said[-1].text:
            del said[-1]  # told when the item is done, which it never is
        kind = st.sampled_from(["server_error", "overloaded_error", "rate_limit_exceeded"])
        return [BEGAN, *said, *used, Failed(draw(TEXT), draw(kind))]
    stop = draw(st.sampled_from([end, Stop.LENGTH, Stop.FILTER]))
    return [BEGAN, *said, Ended(stop), *used]
