"""Answers of other formats for a client of Messages (API-1, API-3)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError
from serve_app.wire.anthropic.emitting import EventWriter, whole
from serve_app.wire.anthropic.events import read_answer
from serve_app.wire.neutral.events import (
    Began,
    CallBegan,
    CallDelta,
    Delta,
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
from tests.serve_app.wire.anthropic.strategies import answers, call, normal

BEGAN = Began("chatcmpl-1", "qwen")
END = [Ended(Stop.END), Used(5, 2)]


def one(events: list[Event]) -> dict[str, Any]:
    return whole(events, id="msg_0", model="theirs")


@settings(max_examples=100)
@given(answers())
def test_what_is_emitted_and_read_again_gives_the_same_events(events: list[Event]) -> None:
    """API-1, API-3"""
    expected = normal([replace(e, id="msg_0") if isinstance(e, Began) else e for e in events])
    assert normal(oracle.read(oracle.written(events))) == expected
    assert normal(read_answer(one(events))) == expected


@settings(max_examples=100)
@given(answers())
def test_a_whole_answer_is_what_the_sdk_collects_of_the_stream(events: list[Event]) -> None:
    """API-1, API-3"""
    data = oracle.written(events)
    oracle.check_stream(data)
    message = one(events)
    oracle.check_message(message)
    assert oracle.collect(data) == oracle.without_none(message)


def test_the_events_of_a_stream_come_in_the_order_of_the_format() -> None:
    """API-3"""
    events = [BEGAN, ReasoningDelta(0, "hm"), TextDelta(1, "a"), TextDelta(1, "b"), *END]
    data = oracle.check_stream(oracle.written(events, input_tokens=4))
    assert data == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_0",
                "type": "message",
                "role": "assistant",
                "model": "qwen",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 4, "output_tokens": 0},
            },
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        _delta(0, {"type": "thinking_delta", "thinking": "hm"}),
        _delta(0, {"type": "signature_delta", "signature": "foreign."}),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        _delta(1, {"type": "text_delta", "text": "a"}),
        _delta(1, {"type": "text_delta", "text": "b"}),
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"input_tokens": 5, "output_tokens": 2},
        },
        {"type": "message_stop"},
    ]


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def test_each_delta_leaves_as_it_comes() -> None:
    """API-3: the first token is passed on as soon as it comes"""
    writer = EventWriter(id="msg_0", model="theirs")
    assert b"message_start" in writer.feed(BEGAN)
    assert b'"hm"' in writer.feed(ReasoningDelta(0, "hm"))
    assert b'"word"' in writer.feed(TextDelta(1, "word"))
    assert b"tool_use" in writer.feed(CallBegan(2, "c1", "look"))
    assert b'{\\"a' in writer.feed(CallDelta(2, '{"a'))


@settings(max_examples=100)
@given(st.data())
def test_interleaved_calls_come_out_one_after_the_other(data: st.DataObject) -> None:
    """API-3: parallel calls whose pieces come in any order"""
    parts = [data.draw(call(number)) for number in range(data.draw(st.integers(2, 4)))]
    order = data.draw(st.permutations([n for n, part in enumerate(parts) for _ in part]))
    queues = [iter(part) for part in parts]
    mixed: list[Event] = [next(queues[number]) for number in order]
    events = oracle.check_stream(oracle.written([BEGAN, *mixed, Ended(Stop.TOOLS)]))
    assert_one_after_the_other(events)
    assert blocks(events) == [block_of(parts[number]) for number in dict.fromkeys(order)]


def block_of(part: list[Delta]) -> dict[str, Any]:
    began = part[0]
    assert isinstance(began, CallBegan)
    arguments = "".join(piece.arguments for piece in part if isinstance(piece, CallDelta))
    input = json.loads(arguments)
    return {"type": "tool_use", "id": began.id, "name": began.name, "input": input}


PARTS = st.integers(0, 3)
ANY_DELTA = st.one_of(
    st.builds(TextDelta, PARTS, st.text(max_size=3)),
    st.builds(RefusalDelta, PARTS, st.text(max_size=3)),
    st.builds(ReasoningDelta, PARTS, st.text(max_size=3), st.none() | st.just("s")),
    st.builds(ReasoningDelta, PARTS, hidden=st.none() | st.just("h")),
    st.builds(CallBegan, PARTS, st.just("c"), st.just("look")),
    st.builds(CallDelta, PARTS, st.sampled_from(["", " ", "{}", '{"a":', "1}", "[", "}"])),
)


@settings(max_examples=200)
@given(st.lists(ANY_DELTA, max_size=12))
def test_deltas_in_any_order_make_blocks_one_after_the_other(deltas: list[Event]) -> None:
    """API-3: and no text is lost"""
    data = oracle.check_stream(oracle.written([BEGAN, *deltas, *END]))
    assert_one_after_the_other(data)
    texts = [d.text for d in deltas if isinstance(d, TextDelta | RefusalDelta)]
    written = [e["delta"]["text"] for e in data if e.get("delta", {}).get("type") == "text_delta"]
    assert sorted("".join(texts)) == sorted("".join(written))
    kinds = [block["type"] for block in one([BEGAN, *deltas, *END])["content"]]
    began = [event for event in data if event["type"] == "content_block_start"]
    assert kinds == [event["content_block"]["type"] for event in began]


def assert_one_after_the_other(events: list[dict[str, Any]]) -> None:
    open, count = None, 0
    for event in events:
        if event["type"] == "content_block_start":
            assert (open, event["index"]) == (None, count)
            open, count = event["index"], count + 1
        elif event["type"].startswith("content_block"):
            assert event["index"] == open
            open = None if event["type"] == "content_block_stop" else open
    assert open is None


def blocks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "content_block_start":
            found.append({**event["content_block"], "input": ""})
        elif event["type"] == "content_block_delta":
            found[-1]["input"] += event["delta"]["partial_json"]
    return [{**block, "input": json.loads(block["input"] or "{}")} for block in found]


def test_what_follows_a_call_waits_only_until_its_arguments_are_complete() -> None:
    """API-3"""
    writer = EventWriter(id="msg_0", model="theirs")
    for event in (BEGAN, CallBegan(0, "a", "look"), CallDelta(0, '{"x":"}\\"')):
        writer.feed(event)
    assert writer.feed(CallBegan(1, "b", "look")) == b""
    assert writer.feed(CallDelta(1, '{"y":2}')) == b""
    freed = oracle.check_stream(writer.feed(CallDelta(0, '"}')))
    assert [event["type"].removeprefix("content_block_") for event in freed] == [
        *("delta", "stop", "start", "delta")
    ]


def test_a_text_that_goes_on_after_a_later_part_is_a_block_of_its_own() -> None:
    """API-3: a part that may go on for ever holds nothing back"""
    events = [BEGAN, ReasoningDelta(0, "a"), TextDelta(1, "b"), ReasoningDelta(0, "c"), *END]
    data = oracle.written(events)
    assert_one_after_the_other(oracle.check_stream(data))
    assert [block["type"] for block in oracle.collect(data)["content"]] == [
        *("thinking", "text", "thinking")
    ]
    assert oracle.collect(data) == oracle.without_none(one(events))


@pytest.mark.parametrize("arguments", ["[1, 2]", '"x"', "nothing", "null", "12"])
def test_arguments_that_are_no_object_are_wrapped(arguments: str) -> None:
    """API-1: ``input`` is an object in Messages"""
    events = [BEGAN, CallBegan(0, "a", "look"), CallDelta(0, arguments), *END]
    block = oracle.collect(oracle.written(events))["content"][0]
    assert block["input"] == {"INVALID_JSON": arguments} == one(events)["content"][0]["input"]


def test_a_call_without_arguments_has_none() -> None:
    """API-1"""
    events = [BEGAN, CallBegan(0, "a", "look"), CallBegan(1, "b", "look"), *END]
    found = oracle.collect(oracle.written(events))["content"]
    assert [block["input"] for block in found] == [{}, {}]
    assert oracle.without_none(one(events))["content"] == found


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop.END, "end_turn"),
        (Stop.LENGTH, "max_tokens"),
        (Stop.TOOLS, "tool_use"),
        (Stop.SEQUENCE, "stop_sequence"),
        (Stop.FILTER, "refusal"),
        (Stop.PAUSE, "pause_turn"),
    ],
)
def test_every_stop_has_its_reason(stop: Stop, reason: str) -> None:
    """API-1"""
    sequence = "END" if stop is Stop.SEQUENCE else None
    events = [BEGAN, TextDelta(0, "x"), Ended(stop, sequence)]
    message = oracle.check_message(one(events))
    assert (message.stop_reason, message.stop_sequence) == (reason, sequence)
    assert oracle.collect(oracle.written(events))["stop_reason"] == reason


def test_a_refusal_is_text_and_the_reason_says_so() -> None:
    """API-1"""
    events = [BEGAN, RefusalDelta(0, "I will not."), *END]
    message = oracle.collect(oracle.written(events))
    assert message["content"] == [{"type": "text", "text": "I will not."}]
    assert message["stop_reason"] == "refusal" == one(events)["stop_reason"]


def test_an_answer_with_calls_ends_for_them() -> None:
    """API-1: some servers end forced calls as any other answer, and clients go by the reason"""
    events = [BEGAN, CallBegan(0, "a", "look"), CallDelta(0, "{}"), *END]
    assert one(events)["stop_reason"] == "tool_use"


def test_input_tokens_leave_out_those_of_the_cache() -> None:
    """API-3: usage survives"""
    used = Used(input=100, output=9, cached=60, written=30, reasoning=4)
    events = [BEGAN, TextDelta(0, "x"), Ended(Stop.END), used]
    usage = oracle.collect(oracle.written(events, input_tokens=77))["usage"]
    assert usage == {
        "input_tokens": 10,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
    }


@pytest.mark.parametrize(
    ("failed", "kind", "error"),
    [
        (Failed("busy", "overloaded_error"), "overloaded_error", anthropic.APIStatusError),
        (Failed("slow down", "rate_limit_exceeded", 429), "rate_limit_error", anthropic.APIError),
        (Failed("broken", "server_error"), "api_error", anthropic.APIStatusError),
        (Failed("gone", status=504), "timeout_error", anthropic.APIStatusError),
        (Failed("odd", status=418), "invalid_request_error", anthropic.APIStatusError),
        (Failed("bad gateway", status=502), "api_error", anthropic.APIStatusError),
    ],
)
def test_a_failure_is_the_error_event_and_the_last(
    failed: Failed, kind: str, error: type[Exception]
) -> None:
    """API-3: an upstream error in mid-stream ends the stream in the format's own error event"""
    data = oracle.written([BEGAN, TextDelta(0, "x"), failed, TextDelta(0, "y"), *END])
    last = oracle.check_stream(data)[-1]
    assert last == {"type": "error", "error": {"type": kind, "message": failed.message}}
    with pytest.raises(error, match=failed.message), oracle.client(data) as client:
        list(client.messages.create(**oracle.ASKED, stream=True))
    with pytest.raises(RouterError, match=failed.message) as refused:
        one([BEGAN, failed])
    assert refused.value.code is Code.PROVIDER_FAILED


def test_an_answer_without_an_end_ends_in_an_error() -> None:
    """API-3"""
    assert oracle.check_stream(oracle.written([BEGAN, TextDelta(0, "x")]))[-1]["type"] == "error"


def test_a_provider_that_names_nothing_is_named_by_the_router() -> None:
    """API-1"""
    message = one([Began("", ""), *END])
    assert (message["id"], message["model"]) == ("msg_0", "theirs")
    assert oracle.collect(oracle.written([TextDelta(0, "x"), *END]))["id"] == "msg_0"


def test_the_sdk_reads_every_raw_event() -> None:
    """API-3"""
    data = oracle.written([BEGAN, TextDelta(0, "x"), *END])
    with oracle.client(data) as client:
        kinds = [e.type for e in client.messages.create(**oracle.ASKED, stream=True)]
    assert kinds == [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop"),
    ]
