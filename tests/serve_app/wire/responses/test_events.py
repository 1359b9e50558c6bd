"""Answers of providers that speak Responses: API-1, API-3, API-5."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.errors import WireFormat
from serve_app.wire.frames import Frame
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
from serve_app.wire.responses.events import AnswerStream, read_answer
from tests.doubles.json_values import JSON
from tests.serve_app.wire.responses.answers import collected

HEAD = {"id": "resp_9", "model": "gpt", "created_at": 5.5}
BEGAN = Began("resp_9", "gpt", 5)
BROKE_OFF = Failed("the provider's answer broke off")


def frame(kind: str, **members: Any) -> Frame:
    name = kind if kind == "error" else f"response.{kind}"
    return Frame(name, orjson.dumps({"type": name, **members}).decode())


def fed(*given: Frame) -> list[Event]:
    """After a beginning, which is left out."""
    stream = AnswerStream()
    assert stream.feed(frame("created", response={**HEAD, "status": "in_progress"})) == [BEGAN]
    return [event for one in given for event in stream.feed(one)]


def added(index: int, **item: Any) -> Frame:
    return frame("output_item.added", output_index=index, item=item)


def done(index: int, **item: Any) -> Frame:
    return frame("output_item.done", output_index=index, item=item)


def text(value: str, index: int = 0, content: int = 0) -> Frame:
    return frame("output_text.delta", output_index=index, content_index=content, delta=value)


def final(status: str = "completed", **members: Any) -> Frame:
    return frame(status, response={**HEAD, "status": status, **members})


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(parts)}


def said(value: str) -> dict[str, Any]:
    return {"type": "output_text", "text": value, "annotations": []}


def test_a_whole_response_is_its_events() -> None:
    """API-1"""
    body = {
        **HEAD,
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            message(said("look"), {"type": "refusal", "refusal": "no"}),
            {"type": "web_search_call", "id": "ws_1"},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c",
                "name": "look",
                "arguments": "{}",
            },
        ],
        "usage": {
            "input_tokens": 9,
            "output_tokens": 4,
            "input_tokens_details": {"cached_tokens": 3},
            "output_tokens_details": {"reasoning_tokens": 2},
        },
    }
    assert read_answer(body) == [
        BEGAN,
        ReasoningDelta(0, "", None, "rs_1:gAAA", WireFormat.RESPONSES),
        TextDelta(1, "look"),
        RefusalDelta(2, "no"),
        CallBegan(3, "c", "look"),
        CallDelta(3, "{}"),
        Ended(Stop.TOOLS),
        Used(9, 4, cached=3, reasoning=2),
    ]


@pytest.mark.parametrize(
    ("members", "last"),
    [
        ({"status": "completed"}, Ended(Stop.END)),
        ({}, Ended(Stop.END)),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Ended(Stop.LENGTH),
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            Ended(Stop.FILTER),
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": "?"}}, Ended(Stop.LENGTH)),
        ({"status": "incomplete"}, Ended(Stop.LENGTH)),
        ({"incomplete_details": {"reason": "content_filter"}}, Ended(Stop.FILTER)),
        (
            {"status": "failed", "error": {"code": "server_error", "message": "why"}},
            Failed("why", "server_error"),
        ),
        ({"error": {"code": "server_error", "message": "why"}}, Failed("why", "server_error")),
        ({"status": "failed"}, Failed("the provider failed")),
        ({"status": "cancelled"}, Failed("the provider's answer is cancelled", "cancelled")),
        ({"status": "queued"}, Failed("the provider's answer is queued", "queued")),
        ({"status": "in_progress"}, Failed("the provider's answer is in_progress", "in_progress")),
    ],
)
def test_every_status_is_an_end(members: dict[str, Any], last: Event) -> None:
    """API-1, API-5"""
    body = {**HEAD, "output": [message(said("a"))], **members}
    assert read_answer(body) == [BEGAN, TextDelta(0, "a"), last]
    status = members.get("status")
    if status in ("completed", "incomplete", "failed"):
        assert fed(text("a"), final(**members)) == [TextDelta(0, "a"), last]


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        ({"error": {"message": "why", "type": "server_error"}}, Failed("why", "server_error")),
        ([], Failed("the provider's answer is no response")),
        (None, Failed("the provider's answer is no response")),
    ],
)
def test_what_is_no_response_has_failed(body: Any, failed: Failed) -> None:
    """API-5"""
    assert read_answer(body) == [failed]


def test_interleaved_calls_are_told_apart() -> None:
    """API-3"""
    call = {"type": "function_call", "name": "look", "arguments": ""}
    events = fed(
        added(0, **call, id="fc_a", call_id="a"),
        added(1, **call, id="fc_b", call_id="b"),
        frame("function_call_arguments.delta", output_index=0, item_id="fc_a", delta='{"x'),
        frame("function_call_arguments.delta", output_index=1, item_id="fc_b", delta="{"),
        frame("function_call_arguments.delta", output_index=0, item_id="fc_a", delta='":1}'),
        frame("function_call_arguments.done", output_index=1, item_id="fc_b", arguments="{}"),
        frame("function_call_arguments.done", output_index=0, item_id="fc_a", arguments='{"x":1}'),
        done(0, **{**call, "arguments": '{"x":1}'}, id="fc_a", call_id="a"),
        final(),
    )
    assert events == [
        CallBegan(0, "a", "look"),
        CallBegan(1, "b", "look"),
        CallDelta(0, '{"x'),
        CallDelta(1, "{"),
        CallDelta(0, '":1}'),
        CallDelta(1, "}"),
        Ended(Stop.TOOLS),
    ]


CALL = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "look"}


@pytest.mark.parametrize(
    "given",
    [
        [
            added(0, **CALL, arguments=""),
            frame("function_call_arguments.done", output_index=0, arguments="{}"),
        ],
        [added(0, **CALL, arguments=""), done(0, **CALL, arguments="{}")],
        [added(0, **CALL, arguments="{}")],
        [done(0, **CALL, arguments="{}")],
        [added(0, type="function_call", id="fc_1", name=""), done(0, **CALL, arguments="{}")],
        [
            added(0, **CALL),
            frame("function_call_arguments.delta", item_id="fc_1", delta="{"),
            frame("function_call_arguments.delta", item_id="fc_1", output_index=7, delta="}"),
        ],
        [added(0, **CALL), frame("function_call_arguments.delta", delta="{}")],
    ],
)
def test_a_call_is_told_once_wherever_its_arguments_stand(given: list[Frame]) -> None:
    """API-3"""
    events = collected(fed(*given, final()))
    assert events == [["call", "a", "look", "{}"], Ended(Stop.TOOLS)]


@pytest.mark.parametrize(
    "given",
    [
        [text("look"), final(output=[message(said("look"))])],
        [text("lo"), text("ok"), frame("output_text.done", output_index=0, text="look"), final()],
        [frame("output_text.done", output_index=0, content_index=0, text="look"), final()],
        [text("lo"), done(0, **message(said("look"))), final()],
        [final(output=[message(said("look"))])],
        [frame("output_text.delta", delta="lo"), frame("output_text.delta", delta="ok"), final()],
    ],
)
def test_a_text_is_told_once_wherever_it_stands(given: list[Frame]) -> None:
    """API-3"""
    assert collected(fed(*given)) == [["TextDelta", "look"], Ended(Stop.END)]


def test_items_that_share_a_place_are_told_apart_by_their_ids() -> None:
    """API-3: some providers number every item nought"""
    events = fed(
        added(0, **CALL, arguments=""),
        added(0, **{**CALL, "id": "fc_2", "call_id": "b"}, arguments=""),
        frame("function_call_arguments.delta", output_index=0, item_id="fc_1", delta="1"),
        frame("function_call_arguments.delta", output_index=0, item_id="fc_2", delta="2"),
        final(),
    )
    assert collected(events)[:2] == [["call", "a", "look", "1"], ["call", "b", "look", "2"]]


def test_reasoning_is_one_part_of_its_item_and_its_secret_comes_last() -> None:
    """API-1, API-3: what ``added`` holds of it may be incomplete"""
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    events = fed(
        added(0, **item, encrypted_content="gA"),
        frame("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="one"),
        frame("reasoning_summary_text.delta", output_index=0, summary_index=1, delta="two"),
        frame("reasoning_text.delta", output_index=0, content_index=0, delta="raw"),
        done(0, **item, encrypted_content="gAAA"),
        final(),
    )
    assert events == [
        ReasoningDelta(0, "one"),
        ReasoningDelta(0, "\n\ntwo"),
        ReasoningDelta(0, "\n\nraw"),
        ReasoningDelta(0, "", None, "rs_1:gAAA", WireFormat.RESPONSES),
        Ended(Stop.END),
    ]


def test_refusals_and_custom_calls_are_told() -> None:
    """API-1"""
    events = fed(
        frame("refusal.delta", output_index=0, content_index=0, delta="no"),
        added(1, type="custom_tool_call", id="ct_1", call_id="c", name="run", input=""),
        frame("custom_tool_call_input.delta", output_index=1, delta="ls"),
        frame("custom_tool_call_input.done", output_index=1, input="ls -l"),
        final(),
    )
    assert events == [
        RefusalDelta(0, "no"),
        CallBegan(1, "c", "run"),
        CallDelta(1, "ls"),
        CallDelta(1, " -l"),
        Ended(Stop.TOOLS),
    ]


@pytest.mark.parametrize(
    ("given", "failed"),
    [
        (
            frame("error", message="why", code="rate_limit_exceeded"),
            Failed("why", "rate_limit_exceeded"),
        ),
        (frame("error", error={"message": "why", "type": "busy"}), Failed("why", "busy")),
        (Frame(None, '{"error": {"message": "why", "code": "busy"}}'), Failed("why", "busy")),
        (frame("error"), Failed("the provider failed")),
    ],
)
def test_an_error_ends_the_stream(given: Frame, failed: Failed) -> None:
    """API-3, API-5"""
    assert fed(text("a"), given, text("late"), final()) == [TextDelta(0, "a"), failed]


def test_a_failed_response_says_what_it_has_used() -> None:
    """API-3: usage survives"""
    error = {"code": "server_error", "message": "why"}
    failed = final("failed", error=error, usage={"input_tokens": 1, "output_tokens": 2})
    assert fed(failed) == [Used(1, 2), Failed("why", "server_error")]


def test_what_is_not_known_is_passed_over() -> None:
    """API-3"""
    assert fed(
        frame("web_search_call.searching", output_index=0, item_id="ws"),
        frame("output_text.annotation.added", output_index=0),
        frame("in_progress", response=HEAD),
        Frame("response.output_text.delta", "no json"),
        Frame(None, "[]"),
        Frame(None, "[DONE]"),
        text("a"),
        final(),
    ) == [TextDelta(0, "a"), Ended(Stop.END)]


def test_a_stream_without_a_beginning_has_one() -> None:
    """API-3"""
    stream = AnswerStream()
    assert stream.feed(text("a")) == [Began("", ""), TextDelta(0, "a")]
    assert stream.feed(final()) == [Ended(Stop.END)]
    assert stream.end() == []


@pytest.mark.parametrize("given", [[], [text("a")], [added(0, **CALL)]])
def test_a_stream_that_breaks_off_has_failed(given: list[Frame]) -> None:
    """API-3"""
    stream = AnswerStream()
    for one in given:
        stream.feed(one)
    assert stream.end() == [BROKE_OFF]
    assert stream.end() == []


STAGES = st.sampled_from(
    [
        *("created", "completed", "incomplete", "failed", "output_item.added", "output_item.done"),
        *("output_text.delta", "output_text.done", "refusal.delta", "reasoning_text.delta"),
        *("reasoning_summary_text.done", "function_call_arguments.delta", "error"),
        *("function_call_arguments.done", "custom_tool_call_input.done"),
    ]
)
KEYS = st.sampled_from(
    [
        *("item", "output_index", "item_id", "delta", "text", "arguments", "response", "error"),
        *("id", "type", "call_id", "name", "content", "summary", "encrypted_content", "output"),
        *("usage", "input_tokens", "input_tokens_details", "status", "created_at", "message"),
        *("incomplete_details", "reason", "content_index", "refusal", "code"),
    ]
)
LEAVES = st.sampled_from(["message", "function_call", "reasoning", "output_text", "failed", "x"])
ANY = st.recursive(
    JSON | LEAVES | st.floats() | st.just(10**30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.lists(st.tuples(STAGES, st.dictionaries(KEYS, ANY, max_size=5)), max_size=5), ANY)
def test_no_provider_makes_the_reader_fail(sent: list[Any], body: Any) -> None:
    """API-5"""
    stream = AnswerStream()
    for stage, members in sent:
        stream.feed(Frame(f"response.{stage}", json.dumps(members)))
    stream.end()
    read_answer(body)
