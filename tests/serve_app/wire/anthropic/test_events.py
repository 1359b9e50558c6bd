"""Answers of a provider of Messages (API-1, API-3)."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError, WireFormat
from serve_app.wire.anthropic.events import AnswerStream, read_answer
from serve_app.wire.frames import Frame, frame
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
from tests.serve_app.wire.anthropic import oracle
from tests.serve_app.wire.anthropic.strategies import VALUES, normal

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 60,
        "output_tokens": 1,
    },
}
BEGAN = Began("msg_1", "claude-x")


def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": members}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None, **usage: Any) -> dict[str, Any]:
    reasons = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": reasons, "usage": {"output_tokens": 7, **usage}}


def streamed(*events: dict[str, Any]) -> bytes:
    first = {"type": "message_start", "message": MESSAGE}
    last = {"type": "message_stop"}
    return b"".join(frame(orjson.dumps(e), e["type"]) for e in (first, *events, last))


def read(*events: dict[str, Any]) -> list[Event]:
    data = streamed(*events)
    oracle.check_stream(data)
    return oracle.read(data)


CONTENT: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    {"type": "text", "text": "Looking."},
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"city": "Bern"}},
    {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
]
EVENTS: list[Event] = [
    BEGAN,
    ReasoningDelta(0, "hm", "c2ln", origin=WireFormat.ANTHROPIC),
    ReasoningDelta(1, hidden="ZGF0YQ==", origin=WireFormat.ANTHROPIC),
    TextDelta(2, "Looking."),
    CallBegan(3, "toolu_1", "look"),
    CallDelta(3, '{"city":"Bern"}'),
    CallBegan(4, "toolu_2", "now"),
    CallDelta(4, "{}"),
    Ended(Stop.TOOLS),
    Used(input=100, output=7, cached=60, written=30),
]


def test_a_whole_message_is_read() -> None:
    """API-1"""
    usage = {**MESSAGE["usage"], "output_tokens": 7}
    message = {**MESSAGE, "content": CONTENT, "stop_reason": "tool_use", "usage": usage}
    oracle.check_message(message)
    assert read_answer(message) == EVENTS


def test_a_stream_of_it_gives_the_same() -> None:
    """API-1, API-3"""
    events = read(
        {"type": "ping"},
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, type="thinking_delta", thinking="h"),
        delta(0, type="thinking_delta", thinking="m"),
        delta(0, type="signature_delta", signature="c2ln"),
        stop(0),
        start(1, CONTENT[1]),
        stop(1),
        start(2, {"type": "text", "text": ""}),
        delta(2, type="text_delta", text="Look"),
        delta(2, type="text_delta", text="ing."),
        stop(2),
        start(3, {**CONTENT[3], "input": {}}),
        delta(3, type="input_json_delta", partial_json=""),
        delta(3, type="input_json_delta", partial_json='{"city":'),
        delta(3, type="input_json_delta", partial_json='"Bern"}'),
        stop(3),
        start(4, CONTENT[4]),
        delta(4, type="input_json_delta", partial_json=""),
        stop(4),
        ended("tool_use"),
    )
    assert normal(events) == EVENTS
    assert events[1] == Used(input=100, output=1, cached=60, written=30)


def test_each_event_is_given_as_it_comes() -> None:
    """API-3: the first token is passed on as soon as it comes"""
    stream = AnswerStream()
    said = [
        {"type": "message_start", "message": MESSAGE},
        start(0, {"type": "text", "text": ""}),
        delta(0, type="text_delta", text="x"),
    ]
    given = [stream.feed(Frame(event["type"], orjson.dumps(event).decode())) for event in said]
    assert [len(events) for events in given] == [2, 0, 1]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", Stop.END),
        ("max_tokens", Stop.LENGTH),
        ("stop_sequence", Stop.SEQUENCE),
        ("tool_use", Stop.TOOLS),
        ("pause_turn", Stop.PAUSE),
        ("refusal", Stop.FILTER),
        ("model_context_window_exceeded", Stop.LENGTH),
    ],
)
def test_every_stop_reason_is_read(reason: str, expected: Stop) -> None:
    """API-1"""
    assert Ended(expected) in read(ended(reason))
    assert Ended(expected) in read_answer({**MESSAGE, "stop_reason": reason})


def test_a_reason_of_tomorrow_or_none_is_an_end() -> None:
    """API-1"""
    assert Ended(Stop.END) in read_answer({**MESSAGE, "stop_reason": "compaction"})
    assert Ended(Stop.END) in read_answer(MESSAGE)
    assert read(ended(None))[-1] == Ended(Stop.END)


def test_the_stop_sequence_is_told() -> None:
    """API-1"""
    event = ended("stop_sequence")
    event["delta"]["stop_sequence"] = "END"
    assert Ended(Stop.SEQUENCE, "END") in read(event)


def test_the_words_of_a_refusal_are_a_refusal() -> None:
    """API-1"""
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    event = ended("refusal")
    event["delta"]["stop_details"] = details
    assert read(event)[2:4] == [RefusalDelta(0, "Not this."), Ended(Stop.FILTER)]
    message = {**MESSAGE, "stop_reason": "refusal", "stop_details": details}
    assert read_answer(message)[1:3] == [RefusalDelta(0, "Not this."), Ended(Stop.FILTER)]


def test_counts_at_the_end_replace_those_of_the_start() -> None:
    """API-3: usage survives"""
    used = [e for e in read(ended("end_turn", input_tokens=12)) if isinstance(e, Used)][-1]
    assert used == Used(input=102, output=7, cached=60, written=30)
    details = {"thinking_tokens": 5}
    used = [
        e for e in read(ended("end_turn", output_tokens_details=details)) if isinstance(e, Used)
    ][-1]
    assert used.reasoning == 5


def test_server_tools_citations_and_events_of_tomorrow_are_passed_over() -> None:
    """API-3"""
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    cited = {"type": "char_location", "cited_text": "x", "document_index": 0}
    cited |= {"document_title": None, "start_char_index": 0, "end_char_index": 1, "file_id": None}
    data = streamed(
        start(0, server),
        delta(0, type="input_json_delta", partial_json='{"query":"x"}'),
        stop(0),
        start(1, {"type": "text", "text": "a"}),
        delta(1, type="citations_delta", citation=cited),
        delta(1, type="delta_of_tomorrow", text="?"),
        {"type": "event_of_tomorrow"},
        delta(1, type="text_delta", text="b"),
        stop(1),
        ended("end_turn"),
    )
    assert normal(oracle.read(data))[1:-1] == [TextDelta(1, "ab"), Ended(Stop.END)]


def test_a_call_that_no_event_ends_has_its_arguments() -> None:
    """API-3"""
    assert CallDelta(0, '{"a":1}') in read(
        start(0, {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}),
        ended("tool_use"),
    )


def test_an_error_event_ends_the_stream() -> None:
    """API-3"""
    error = {"type": "overloaded_error", "message": "Overloaded"}
    data = streamed({"type": "error", "error": error}, ended("end_turn"))
    failed = Failed("Overloaded", "overloaded_error", 529)
    assert oracle.read(data)[2:] == [failed]
    assert read_answer({"type": "error", "error": error}) == [failed]
    assert read_answer({"type": "error"}) == [Failed("api_error", "api_error", 500)]


def test_a_stream_that_broke_off_failed_unless_its_end_was_told() -> None:
    """API-3"""
    data = streamed(ended("end_turn"))
    assert isinstance(oracle.read(data[: data.index(b"event: message_delta")])[-1], Failed)
    assert isinstance(oracle.read(b"")[-1], Failed)
    torn = oracle.read(data[: data.index(b"event: message_stop")])
    assert not any(isinstance(event, Failed) for event in torn)


def test_the_end_mark_of_another_format_is_no_event() -> None:
    """API-3: of servers that speak both"""
    stream = AnswerStream()
    assert stream.feed(Frame(None, "[DONE]")) == []


def test_an_event_that_has_no_type_has_that_of_its_frame() -> None:
    """API-3"""
    data = orjson.dumps({"message": MESSAGE}).decode()
    assert AnswerStream().feed(Frame("message_start", data))[0] == BEGAN


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[]",
        '{"type": "message_start"}',
        '{"type": "content_block_start", "index": 0}',
        '{"type": "content_block_start", "index": "0", "content_block": {}}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 1}}',
        '{"type": "content_block_delta", "index": 9, "delta": {"type": "input_json_delta"}}',
    ],
)
def test_what_is_not_in_the_format_ends_the_stream_as_a_failure(data: str) -> None:
    """API-3"""
    stream = AnswerStream()
    assert isinstance(stream.feed(Frame(None, data))[-1], Failed)
    assert stream.feed(Frame(None, '{"type": "message_stop"}')) == stream.end() == []


KEYS = st.sampled_from(
    [
        *("type", "index", "message", "content_block", "delta", "usage", "error", "content", "id"),
        *("model", "text", "thinking", "signature", "data", "partial_json", "input", "name"),
        *("stop_reason", "stop_details", "explanation", "output_tokens_details", "input_tokens"),
    ]
)
TYPES = st.sampled_from(
    [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop", "error", "text", "thinking", "redacted_thinking"),
        *("tool_use", "text_delta", "thinking_delta", "signature_delta", "input_json_delta"),
    ]
)
HOSTILE = st.recursive(
    VALUES | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)


@settings(max_examples=200)
@given(st.lists(st.tuples(TYPES, st.dictionaries(KEYS, HOSTILE, max_size=6)), max_size=4))
def test_no_stream_makes_the_reader_fail(events: Any) -> None:
    """API-3: hostile providers are told of, and nothing else"""
    stream = AnswerStream()
    for kind, members in events:
        stream.feed(Frame(kind, json.dumps(members)))
    stream.end()


@settings(max_examples=200)
@given(HOSTILE | st.fixed_dictionaries({"content": st.lists(HOSTILE)}))
def test_no_message_makes_the_reader_fail_otherwise(body: Any) -> None:
    """API-3"""
    refused: RouterError | None = None
    try:
        assert read_answer(body)
    except RouterError as error:
        refused = error
    assert refused is None or refused.code is Code.PROVIDER_FAILED
