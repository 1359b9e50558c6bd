"""Chat's side of the neutral forms: what to draw of them, and OpenAI's SDK to judge by."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import httpx
import openai
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter

from serve_app.wire.chat.options import EFFORTS
from serve_app.wire.neutral.conversation import (
    Conversation,
    File,
    Image,
    OutputFormat,
    Part,
    Reasoning,
    Refusal,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)
from serve_app.wire.neutral.events import (
    Began,
    CallBegan,
    CallDelta,
    Ended,
    Event,
    ReasoningDelta,
    RefusalDelta,
    Stop,
    TextDelta,
    Used,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
NAMES = st.sampled_from(["look", "find", "get_weather"])
SCHEMAS = st.dictionaries(st.sampled_from(["type", "title"]), WORDS, max_size=2)
NUMBERS = st.none() | st.integers(0, 2) | st.floats(0, 2)

IMAGES = st.builds(
    Image, url=st.just("https://example.org/a.png"), detail=st.sampled_from([None, "low"])
) | st.builds(Image, data=st.sampled_from(["AAAA", "iVBO"]), media_type=st.just("image/png"))
FILES = st.builds(
    File, data=st.just("JVBE"), media_type=st.just("application/pdf"), name=st.just("a.pdf")
)
TEXTS = st.builds(Text, WORDS)
MIXED = st.lists(TEXTS | IMAGES | FILES, min_size=1, max_size=4).filter(
    lambda parts: any(not isinstance(part, Text) for part in parts)
)
USERS = st.builds(Turn, st.just("user"), (st.tuples(TEXTS) | MIXED.map(tuple)))
SYSTEMS = st.builds(Turn, st.just("system"), st.tuples(TEXTS))


@st.composite
def exchanges(draw: Any, index: int) -> list[Turn]:
    """A turn of the assistant, the results of its calls, and perhaps a word of the user."""
    calls = [
        ToolCall(f"call_{index}_{number}", draw(NAMES), draw(WORDS))
        for number in range(draw(st.integers(0, 3)))
    ]
    said: list[Part] = []
    for part in (Reasoning, Text, Refusal):
        said += [part(draw(WORDS))] if draw(st.booleans()) else []
    if not said and not calls:
        said = [Text(draw(WORDS))]
    turns = [Turn("assistant", (*said, *calls))]
    if calls:
        results = [ToolResult(call.id, draw(st.tuples() | st.tuples(TEXTS))) for call in calls]
        turns.append(Turn("user", tuple(results)))
    return turns + draw(st.lists(USERS | SYSTEMS, max_size=2))


@st.composite
def conversations(draw: Any) -> Conversation:
    """Those that Chat can carry whole."""
    turns = [draw(USERS)]
    for index in range(draw(st.integers(0, 3))):
        turns += draw(exchanges(index))
    tools = draw(
        st.lists(
            st.builds(
                Tool, NAMES, st.none() | WORDS, st.none() | SCHEMAS, st.none() | st.booleans()
            ),
            max_size=2,
        )
    )
    modes = st.sampled_from([None, "auto", "none", "required"])
    choices = st.builds(ToolChoice, modes, parallel=st.none() | st.booleans()) | st.builds(
        ToolChoice, st.just("tool"), NAMES
    )
    stream = draw(st.booleans())
    return Conversation(
        model="asked",
        turns=tuple(turns),
        system=draw(st.tuples() | st.tuples(TEXTS)),
        tools=tuple(tools),
        tool_choice=draw(choices) if tools else ToolChoice(),
        output=draw(
            st.none()
            | st.just(OutputFormat())
            | st.builds(OutputFormat, SCHEMAS, WORDS, st.none() | st.booleans())
        ),
        sampling=draw(
            st.builds(
                Sampling,
                max_tokens=st.none() | st.integers(1, 99),
                temperature=NUMBERS,
                top_p=NUMBERS,
                stop=st.lists(WORDS, max_size=2).map(tuple),
                seed=st.none() | st.integers(),
                frequency_penalty=NUMBERS,
                presence_penalty=NUMBERS,
            )
        ),
        thinking=draw(
            st.builds(Thinking, effort=st.none() | st.sampled_from(EFFORTS))
            | st.just(Thinking(off=True))
        ),
        stream=stream,
        include_usage=stream,
        user=draw(st.none() | WORDS),
        metadata=draw(st.dictionaries(WORDS, WORDS, max_size=2)),
    )


@st.composite
def answers(draw: Any) -> list[Event]:
    """Events of an answer as a Chat provider's stream gives them: calls come mixed."""
    events: list[Event] = [Began("chatcmpl-1", "qwen", 7)]
    opened, speech, calls = 0, None, []
    for step in draw(st.lists(st.integers(0, 5), max_size=12)):
        if step < 3:
            kind = (TextDelta, RefusalDelta, ReasoningDelta)[step]
            if kind is not speech:
                speech, opened = kind, opened + 1
            events.append(kind(opened - 1, draw(WORDS)))
        elif step == 3:
            speech, opened = None, opened + 1
            calls.append(opened - 1)
            events.append(CallBegan(opened - 1, f"call_{opened}", draw(NAMES)))
        elif calls:
            events.append(CallDelta(draw(st.sampled_from(calls)), draw(WORDS)))
    stops = [Stop.TOOLS, Stop.LENGTH, Stop.FILTER]
    events.append(Ended(draw(st.sampled_from(stops if calls else [Stop.END, *stops]))))
    return [*events, *draw(st.tuples() | st.tuples(USES))]


COUNTS = st.integers(0, 10**9)
USES = st.builds(Used, COUNTS, COUNTS, *([st.none() | COUNTS] * 3))


def sdk_chunks(stream: bytes) -> Iterator[ChatCompletionChunk]:
    """The stream's chunks as the SDK's own parser reads them."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    http = httpx.Client(transport=httpx.MockTransport(answer))
    client = openai.OpenAI(api_key="x", base_url="http://one", http_client=http, max_retries=0)
    yield from client.chat.completions.create(model="x", messages=[], stream=True)


_STREAMED = TypeAdapter(CompletionCreateParamsStreaming)
_WHOLE = TypeAdapter(CompletionCreateParamsNonStreaming)


def as_sdk_reads(body: dict[str, Any]) -> Any:
    """A request with those members that the SDK's types know; an invalid one is refused."""
    params = _STREAMED if body.get("stream") else _WHOLE
    return _drawn_out(params.validate_python(body))


def _drawn_out(value: Any) -> Any:
    """Pydantic checks an iterable while it is read, for which its adapter must live on."""
    if isinstance(value, dict):
        return {name: _drawn_out(member) for name, member in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [_drawn_out(item) for item in value]


WRONG = (None, True, 3, 1.5, "x", "", [], {}, [None], [[]], [{}], {"a": 1})
"""One value at least of each type, to put where another belongs."""


def places(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to a JSON value and to each within it."""
    yield where
    if isinstance(value, (dict, list)):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(member, (*where, name))


def put(body: Any, where: tuple[Any, ...], value: Any) -> Any:
    """A copy of ``body`` that has ``value`` at a place of it."""
    if not where:
        return value
    body = copy.deepcopy(body)
    inner = body
    for step in where[:-1]:
        inner = inner[step]
    inner[where[-1]] = value
    return body
