"""Conversations and answers that Messages can carry."""

from __future__ import annotations

from hypothesis import strategies as st

from serve_app.errors import WireFormat
from serve_app.wire.body import json_bytes
from serve_app.wire.neutral.conversation import (
    Conversation,
    File,
    Image,
    OutputFormat,
    Reasoning,
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
    Delta,
    Ended,
    Event,
    ReasoningDelta,
    Stop,
    TextDelta,
    Used,
)

WORDS = st.text(min_size=1, max_size=12).filter(str.strip)
IDS = st.text("abcXYZ019_-", min_size=1, max_size=8)
DATA = st.sampled_from(["AAAA", "iVBORw0KGgo="])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(-9, 9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)


ARGUMENTS = OBJECTS.map(lambda value: json_bytes(value).decode())
BROKEN = st.sampled_from(["[1,2]", '"text"', "nothing", '{"cut": "of', "null", "{} {}"])

TEXTS = st.builds(Text, WORDS)
IMAGES = st.builds(Image, url=WORDS.map("https://example.org/{}".format)) | st.builds(
    Image, data=DATA, media_type=st.sampled_from(["image/png", "image/webp"])
)
FILES = st.one_of(
    st.builds(File, text=WORDS, name=st.none() | WORDS),
    st.builds(File, url=WORDS.map("https://example.org/{}".format)),
    st.builds(File, data=DATA, media_type=st.just("application/pdf"), name=st.none() | WORDS),
)
ORIGINS = st.sampled_from([WireFormat.ANTHROPIC, WireFormat.RESPONSES])
PLAIN = TEXTS | IMAGES | FILES
CALLS = st.builds(ToolCall, IDS, WORDS, ARGUMENTS | BROKEN)
RESULTS = st.builds(ToolResult, IDS, st.lists(PLAIN, max_size=2).map(tuple), failed=st.booleans())
THOUGHTS = st.builds(
    Reasoning,
    st.text(max_size=9),
    signature=st.sampled_from(["EqQB", "c2ln"]),
    origin=st.just(WireFormat.ANTHROPIC),
) | st.builds(Reasoning, st.just(""), hidden=IDS, origin=st.just(WireFormat.ANTHROPIC))


@st.composite
def turns(draw: st.DrawFn) -> tuple[Turn, ...]:
    """A user's turn first and last, results of tools before all else."""
    found = []
    for _ in range(draw(st.integers(0, 2))):
        found.append(draw(_user()))
        parts = draw(st.lists(THOUGHTS, max_size=1))
        parts += draw(st.lists(TEXTS | CALLS, min_size=1, max_size=3))
        found.append(Turn("assistant", tuple(parts)))
    return (*found, draw(_user()))


@st.composite
def _user(draw: st.DrawFn) -> Turn:
    results = draw(st.lists(RESULTS, max_size=2))
    plain = draw(st.lists(PLAIN, min_size=0 if results else 1, max_size=3))
    return Turn("user", (*results, *plain))


TOOLS = st.lists(
    st.builds(
        Tool,
        WORDS,
        st.none() | WORDS,
        st.just({"type": "object", "properties": {"a": {"type": "string"}}}),
        st.none() | st.booleans(),
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda tool: tool.name,
).map(tuple)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    tools = draw(st.just(()) | TOOLS)
    choices = [ToolChoice()]
    if tools:
        choices += [ToolChoice("auto"), ToolChoice("none"), ToolChoice("required", parallel=False)]
        choices += [ToolChoice("auto", parallel=True), ToolChoice("tool", tools[-1].name)]
    sampled = {"max_tokens": draw(st.integers(0, 9999)), "stop": draw(st.lists(WORDS).map(tuple))}
    if draw(st.booleans()):
        sampled["temperature"] = draw(st.none() | st.floats(0, 1))
        sampled["top_k"] = draw(st.none() | st.integers(1, 99))
    else:
        sampled["top_p"] = draw(st.none() | st.floats(0.1, 0.9))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    return Conversation(
        model="auto",
        turns=draw(turns()),
        system=tuple(draw(st.lists(TEXTS, max_size=2))),
        tools=tools,
        tool_choice=draw(st.sampled_from(choices)),
        output=draw(st.none() | st.just(OutputFormat(schema))),
        sampling=Sampling(**sampled),
        thinking=draw(st.sampled_from([Thinking(), Thinking(off=True)])),
        stream=draw(st.booleans()),
        user=draw(st.none() | WORDS),
    )


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    """``text`` in pieces, none empty."""
    at = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=4)))
    pieces = [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
    return [piece for piece in pieces if piece]


@st.composite
def part(draw: st.DrawFn, number: int) -> list[Delta]:
    match draw(st.sampled_from(["text", "thinking", "hidden", "call", "call"])):
        case "text":
            pieces = draw(cut(draw(st.text(min_size=1, max_size=20))))
            return [TextDelta(number, piece) for piece in pieces]
        case "thinking":
            pieces = draw(cut(draw(st.text(min_size=1, max_size=20))))
            signature = draw(st.none() | IDS)
            signed = ReasoningDelta(number, signature=signature, origin=draw(ORIGINS))
            last = [] if signature is None else [signed]
            return [*(ReasoningDelta(number, piece) for piece in pieces), *last]
        case "hidden":
            return [ReasoningDelta(number, hidden=draw(IDS), origin=draw(ORIGINS))]
        case _:
            return draw(call(number))


@st.composite
def call(draw: st.DrawFn, number: int) -> list[Delta]:
    pieces = draw(cut(draw(ARGUMENTS)))
    began = CallBegan(number, draw(IDS), draw(WORDS))
    return [began, *(CallDelta(number, piece) for piece in pieces)]


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """Parts one after the other, as a provider of any format gives them mostly."""
    events: list[Event] = [Began(draw(IDS), draw(WORDS))]
    for number in range(draw(st.integers(0, 4))):
        events += draw(part(number))
    called = any(isinstance(event, CallBegan) for event in events)
    stop = draw(st.sampled_from([s for s in Stop if s is not Stop.END or not called]))
    sequence = draw(WORDS) if stop is Stop.SEQUENCE else None
    output = draw(st.integers(0, 2**40))
    cached, more = draw(st.none() | st.integers(0, 99)), draw(st.none() | st.integers(0, 99))
    used = Used(
        input=draw(st.integers(0, 2**40)) + (cached or 0) + (more or 0),
        output=output,
        cached=cached,
        written=more,
        reasoning=draw(st.none() | st.integers(0, output)),
    )
    return [*events, *draw(st.permutations([Ended(stop, sequence), used]))]


def normal(events: list[Event]) -> list[Event]:
    """Neighbouring deltas of a part as one, and the last ``Used`` alone, at the end."""
    found: list[Event] = []
    used = [event for event in events if isinstance(event, Used)][-1:]
    for event in events:
        if isinstance(event, Used):
            continue
        joined = _joined(found[-1], event) if found else None
        if joined is None:
            found.append(event)
        else:
            found[-1] = joined
    return [*found, *used]


def _joined(first: Event, second: Event) -> Event | None:
    match first, second:
        case TextDelta(a, x), TextDelta(b, y) if a == b:
            return TextDelta(a, x + y)
        case CallDelta(a, x), CallDelta(b, y) if a == b:
            return CallDelta(a, x + y)
        case ReasoningDelta(a), ReasoningDelta(b) if a == b:
            signature = second.signature or first.signature
            origin = second.origin or first.origin
            return ReasoningDelta(a, first.text + second.text, signature, first.hidden, origin)
    return None
