"""Answers in Responses of providers in other formats: API-1, API-3."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import APIError
from pydantic import BaseModel

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
from serve_app.wire.responses.emitting import EventWriter, whole
from serve_app.wire.responses.envelope import Envelope
from serve_app.wire.responses.events import read_answer
from tests.serve_app.wire.responses.answers import (
    BEGAN,
    ENVELOPE,
    STREAM_EVENT,
    answers,
    collected,
    deltas,
    frames,
    read_stream,
    sdk,
    validated,
    written,
)

CALLS: list[Event] = [
    BEGAN,
    TextDelta(0, "let me "),
    TextDelta(0, "look"),
    CallBegan(1, "a", "look"),
    CallDelta(1, '{"at":'),
    CallBegan(2, "b", "look"),
    CallDelta(2, "{"),
    CallDelta(1, "1}"),
    CallDelta(2, "}"),
    Ended(Stop.TOOLS),
    Used(7, 5, cached=2, written=1, reasoning=3),
]


def payloads(events: list[Event]) -> list[dict[str, Any]]:
    found = []
    for frame in frames(written(events)):
        payload = json.loads(frame.data)
        assert payload["type"] == frame.event
        found.append(payload)
    return found


def kinds(events: list[Event]) -> list[str]:
    return [payload["type"].removeprefix("response.") for payload in payloads(events)]


def test_a_text_comes_in_the_formats_own_order() -> None:
    """API-3"""
    assert kinds([BEGAN, TextDelta(0, "a"), TextDelta(0, "b"), Ended(Stop.END)]) == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta", "output_text.delta", "output_text.done", "content_part.done"),
        *("output_item.done", "completed"),
    ]


def test_a_thought_is_done_before_the_text_begins() -> None:
    """API-3"""
    events: list[Event] = [BEGAN, ReasoningDelta(0, "so"), ReasoningDelta(0, signature="s")]
    assert kinds([*events, RefusalDelta(1, "no"), Ended(Stop.END)]) == [
        *("created", "in_progress", "output_item.added", "reasoning_summary_part.added"),
        *("reasoning_summary_text.delta", "reasoning_summary_text.done"),
        *("reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "refusal.delta", "refusal.done"),
        *("content_part.done", "output_item.done", "completed"),
    ]


def test_calls_stay_open_side_by_side() -> None:
    """API-3"""
    assert kinds(CALLS)[6:] == [
        *("output_text.done", "content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta"),
        *("output_item.added", "function_call_arguments.delta"),
        *("function_call_arguments.delta", "function_call_arguments.delta"),
        *("function_call_arguments.done", "output_item.done"),
        *("function_call_arguments.done", "output_item.done", "completed"),
    ]


@given(answers())
def test_events_are_numbered_from_nought_and_of_the_sdks_types(events: list[Event]) -> None:
    """API-3"""
    sent = payloads(events)
    assert [payload["sequence_number"] for payload in sent] == list(range(len(sent)))
    for payload in sent:
        STREAM_EVENT.validate_python(payload)


@given(answers())
def test_what_is_written_as_a_stream_is_read_again_as_it_was(events: list[Event]) -> None:
    """API-1, API-3"""
    assert read_stream(written(events)) == events


@given(answers())
def test_a_whole_answer_says_what_its_stream_says(events: list[Event]) -> None:
    """API-1"""
    response = whole(events, ENVELOPE)
    assert collected(read_answer(response)) == collected(events)
    assert payloads(events)[-1]["response"] == response
    assert validated(response).status == response["status"]


@settings(max_examples=50)
@given(deltas(), st.sampled_from([Stop.END, Stop.TOOLS, Stop.SEQUENCE]))
def test_the_sdk_accumulates_the_whole_answer(said: list[Event], stop: Stop) -> None:
    """API-1, API-3"""
    events = [BEGAN, *said, Ended(stop), Used(3, 4)]
    with sdk(written(events)).responses.stream(model="auto", input="hello") as stream:
        final = stream.get_final_response()
    expected = validated(whole(events, ENVELOPE))
    assert final.output_text == expected.output_text
    assert collected(read_answer(final.to_dict())) == collected(read_answer(expected.to_dict()))
    assert (final.status, final.usage, final.model) == ("completed", expected.usage, "gemma")


def test_the_sdk_reads_interleaved_calls() -> None:
    """API-1, API-3"""
    stream = sdk(written(CALLS)).responses.create(model="auto", input="hello", stream=True)
    done = [e for e in stream if e.type == "response.function_call_arguments.done"]
    assert [(e.output_index, e.arguments) for e in done] == [(1, '{"at":1}'), (2, "{}")]


def test_a_whole_answer_has_every_kind_of_item() -> None:
    """API-1"""
    thought: list[Event] = [BEGAN, ReasoningDelta(9, "so", "sig")]
    response = validated(whole([*thought, *CALLS[1:]], ENVELOPE))
    reasoning, message, first, second = response.output
    assert reasoning.type == "reasoning"
    assert reasoning.summary[0].text == "so"
    assert response.output_text == "let me look"
    assert message.type == "message"
    assert first.type == second.type == "function_call"
    assert (first.call_id, first.name, first.arguments) == ("a", "look", '{"at":1}')
    assert first.id != second.id
    assert response.usage is not None
    assert response.usage.to_dict() == {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 12,
    }


def test_a_response_repeats_its_request() -> None:
    """API-1"""
    response = validated(whole([BEGAN, Ended(Stop.END)], ENVELOPE))
    assert (response.id, response.created_at, response.model) == ("resp_1", BEGAN.created, "gemma")
    assert (response.instructions, response.temperature) == ("be kind", 0.5)
    assert (response.tools[0].type, response.metadata) == ("function", {"tier": "gold"})
    bare = validated(whole([Ended(Stop.END)], Envelope("resp_2", 5, {"model": "auto"})))
    assert (bare.created_at, bare.model, bare.tool_choice, bare.tools) == (5, "auto", "auto", [])
    assert bare.parallel_tool_calls


@pytest.mark.parametrize(
    ("stop", "status", "reason"),
    [
        (Stop.END, "completed", None),
        (Stop.SEQUENCE, "completed", None),
        (Stop.TOOLS, "completed", None),
        (Stop.LENGTH, "incomplete", "max_output_tokens"),
        (Stop.FILTER, "incomplete", "content_filter"),
        (Stop.PAUSE, "incomplete", None),
    ],
)
def test_every_stop_is_a_status(stop: Stop, status: str, reason: str | None) -> None:
    """API-1"""
    events: list[Event] = [BEGAN, TextDelta(0, "a"), Ended(stop)]
    response = validated(whole(events, ENVELOPE))
    details = response.incomplete_details
    assert (response.status, details and details.reason) == (status, reason)
    assert response.output[0].status == status
    assert kinds(events)[-1] == status


@pytest.mark.parametrize(
    ("failed", "code", "type"),
    [
        (Failed("busy", "overloaded_error", 529), "server_error", "overloaded_error"),
        (Failed("slow down", "rate_limit_error"), "rate_limit_exceeded", "rate_limit_error"),
        (Failed("slow down", None, 429), "rate_limit_exceeded", None),
        (Failed("bad", "invalid_prompt"), "invalid_prompt", None),
        (Failed("why"), "server_error", None),
    ],
)
def test_a_failure_ends_the_stream(failed: Failed, code: str, type: str | None) -> None:
    """API-3, API-5"""
    late: list[Event] = [TextDelta(0, "late"), Ended(Stop.END), Used(1, 1)]
    events: list[Event] = [BEGAN, TextDelta(0, "so far"), failed, *late]
    assert kinds(events)[-2:] == ["output_text.delta", "failed"]
    response = validated(payloads(events)[-1]["response"])
    assert response.error is not None
    assert (response.status, response.output_text) == ("failed", "so far")
    assert (response.error.code, response.error.message, response.error.type) == (
        *(code, failed.message, type),
    )
    assert response.to_dict() == validated(whole(events, ENVELOPE)).to_dict()


def test_a_failure_before_anything_else_still_has_a_beginning() -> None:
    """API-3"""
    assert kinds([Failed("why")]) == ["created", "in_progress", "failed"]


def test_an_answer_that_breaks_off_has_failed() -> None:
    """API-3"""
    assert kinds([BEGAN, TextDelta(0, "a")])[-1] == "failed"
    assert kinds([]) == ["created", "in_progress", "failed"]


def test_the_sdk_tells_a_failure_that_came_in_mid_stream() -> None:
    """API-3"""
    data = written([BEGAN, TextDelta(0, "a"), Failed("busy", "overloaded_error")])
    stream = sdk(data).responses.create(model="auto", input="hello", stream=True)
    last = list(stream)[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.message == "busy"


def test_the_first_delta_goes_out_with_the_event_that_brought_it() -> None:
    """API-3: the first token is passed on as soon as it comes"""
    writer = EventWriter(ENVELOPE)
    assert b"response.created" in writer.feed(BEGAN)
    assert b'"delta":"now"' in writer.feed(TextDelta(0, "now"))


def test_a_writer_knows_the_response_that_it_wrote() -> None:
    """API-1"""
    writer = EventWriter(ENVELOPE)
    for event in CALLS:
        writer.feed(event)
    assert writer.response()["status"] == "in_progress"
    assert json.loads(frames(writer.end())[-1].data)["response"] == writer.response()


def test_a_text_that_goes_on_after_a_call_is_a_message_anew() -> None:
    """API-3: the calls stay whole"""
    events: list[Event] = [
        *(BEGAN, TextDelta(0, "a"), CallBegan(1, "c", "look"), CallDelta(1, "{")),
        *(TextDelta(0, "b"), CallDelta(1, "}"), Ended(Stop.TOOLS)),
    ]
    response = validated(whole(events, ENVELOPE))
    assert [item.type for item in response.output] == ["message", "function_call", "message"]
    assert response.output_text == "ab"
    assert response.output[1].to_dict()["arguments"] == "{}"


@pytest.mark.parametrize("id", ["", "same"])
def test_calls_without_an_id_of_their_own_get_one(id: str) -> None:
    """API-1: a client answers a call by its id"""
    events: list[Event] = [BEGAN, CallBegan(0, id, "look"), CallBegan(1, id, "look")]
    with sdk(written([*events, Ended(Stop.TOOLS)])).responses.stream(
        model="auto", input="hello"
    ) as stream:
        calls = stream.get_final_response().output
    ids = [call.to_dict()["call_id"] for call in calls]
    assert len(set(ids)) == 2
    assert all(ids)


def test_an_empty_answer_is_a_response_with_no_output() -> None:
    """API-1"""
    response = validated(whole([Began("x", "gemma"), Ended(Stop.END)], ENVELOPE))
    assert (response.output, response.output_text, response.usage) == ([], "", None)


def test_a_number_of_any_size_in_the_request_is_repeated() -> None:
    """API-2"""
    request = {"model": "auto", "tools": [{"type": "function", "parameters": {"max": 10**30}}]}
    assert str(10**30).encode() in written([BEGAN], Envelope("resp_1", 1, request))


def test_the_sdk_parses_structured_answers() -> None:
    """API-1"""

    class City(BaseModel):
        name: str

    data = written([BEGAN, TextDelta(0, '{"name":'), TextDelta(0, '"Bern"}'), Ended(Stop.END)])
    with sdk(data).responses.stream(model="auto", input="?", text_format=City) as stream:
        assert stream.get_final_response().output_parsed == City(name="Bern")


def test_an_error_status_is_an_error_of_the_sdk() -> None:
    """API-5"""
    body = b'{"error": {"message": "why", "type": "server_error", "param": null, "code": null}}'
    with pytest.raises(APIError, match="why"):
        sdk(body, "application/json", 503).responses.create(model="auto", input="hello")
