"""Answers of Chat providers as events: API-1, API-3, API-5."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError
from serve_app.wire.chat.events import AnswerStream, read_answer
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
from tests.doubles.chat import WRONG, places, put
from tests.doubles.json_values import JSON

HEAD = {"id": "chatcmpl-1", "created": 7, "model": "qwen"}
BEGAN = Began("chatcmpl-1", "qwen", 7)
DONE = Frame(None, "[DONE]")
USAGE = {
    "prompt_tokens": 5,
    "completion_tokens": 3,
    "total_tokens": 8,
    "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
USED = Used(5, 3, cached=2, written=1, reasoning=1)


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> Frame:
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return Frame(None, json.dumps({**HEAD, "choices": choices, **more}))


def usage(**more: Any) -> Frame:
    return Frame(None, json.dumps({**HEAD, "choices": [], "usage": USAGE, **more}))


def tool(index: Any, id_: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:
    given_ = {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in given_.items() if value is not None}


def tools(*calls: dict[str, Any], finish: Any = None) -> Frame:
    return chunk({"tool_calls": list(calls)}, finish)


def streamed(*frames: Frame) -> list[Event]:
    stream = AnswerStream()
    events = [event for frame in frames for event in stream.feed(frame)]
    events += stream.end()
    assert stream.end() == []
    return events


def completion(message: dict[str, Any], finish: Any = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion", "choices": [choice], **more}


FULL = completion(
    {
        "content": "hi",
        "reasoning_content": "hm",
        "refusal": "no",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}},
            {"id": "b", "type": "function", "function": {"name": "find", "arguments": ""}},
        ],
    },
    "tool_calls",
    usage=USAGE,
)
FULL_EVENTS = [
    BEGAN,
    ReasoningDelta(0, "hm"),
    TextDelta(1, "hi"),
    RefusalDelta(2, "no"),
    CallBegan(3, "a", "look"),
    CallDelta(3, '{"x":1}'),
    CallBegan(4, "b", "find"),
    Ended(Stop.TOOLS),
    USED,
]


def test_a_whole_answer_is_its_events_at_once() -> None:
    """API-1"""
    assert read_answer(FULL) == FULL_EVENTS


def test_a_stream_is_the_same_events() -> None:
    """API-1, API-3"""
    events = streamed(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "hm"}),
        chunk({"content": "hi", "reasoning_content": None}),
        chunk({"refusal": "no"}),
        tools(tool(0, "a", "look", "")),
        tools(tool(0, arguments='{"x":1}')),
        tools(tool(1, "b", "find", "")),
        chunk(finish="tool_calls"),
        usage(),
        DONE,
    )
    assert events == FULL_EVENTS


def test_each_event_comes_with_its_frame() -> None:
    """API-3: the first token is passed on as soon as it comes"""
    stream = AnswerStream()
    assert stream.feed(chunk({"role": "assistant", "content": ""})) == [BEGAN]
    assert stream.feed(chunk({"content": "h"})) == [TextDelta(0, "h")]
    assert stream.feed(chunk({"content": "i"}, "stop")) == [TextDelta(0, "i")]
    assert stream.feed(usage()) == [Ended(Stop.END), USED]
    assert stream.feed(DONE) == []
    assert stream.feed(chunk({"content": "more"})) == []


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", Stop.END),
        ("length", Stop.LENGTH),
        ("tool_calls", Stop.TOOLS),
        ("function_call", Stop.TOOLS),
        ("content_filter", Stop.FILTER),
        ("model_length", Stop.LENGTH),
        ("stop_sequence", Stop.SEQUENCE),
        ("sensitive", Stop.FILTER),
        ("of_tomorrow", Stop.END),
    ],
)
def test_every_finish_reason_is_a_stop(reason: str, stop: Stop) -> None:
    """API-1"""
    assert read_answer(completion({"content": "hi"}, reason))[-1] == Ended(stop)
    for frames in (
        [chunk({"content": "hi"}, reason), DONE],
        [chunk({"content": "hi"}), chunk(finish=reason), DONE],
        [chunk({"content": "hi"}, reason)],
    ):
        assert streamed(*frames) == [BEGAN, TextDelta(0, "hi"), Ended(stop)]


@pytest.mark.parametrize("reason", ["error", "abort", "insufficient_system_resource"])
def test_a_provider_that_gives_up_has_failed(reason: str) -> None:
    """API-3, API-5"""
    message = f"the provider ended its answer with finish_reason {reason}"
    with pytest.raises(RouterError) as caught:
        read_answer(completion({"content": "hi"}, reason))
    assert (caught.value.code, caught.value.message) == (Code.PROVIDER_FAILED, message)
    events = streamed(chunk({"content": "hi"}), chunk(finish=reason), DONE)
    assert events == [BEGAN, TextDelta(0, "hi"), Failed(message)]


def test_the_stop_sequence_is_told_where_the_server_names_it() -> None:
    """API-1: vLLM does; it may name a token instead"""
    for named, ended in (("END", Ended(Stop.SEQUENCE, "END")), (151645, Ended(Stop.END))):
        body = completion({"content": "hi"})
        body["choices"][0]["stop_reason"] = named
        assert read_answer(body)[-1] == ended


def test_an_answer_that_calls_ends_with_tools() -> None:
    """API-1: many servers say stop after a call, OpenAI's too where the tool was forced"""
    call = {"id": "a", "function": {"name": "look", "arguments": "{}"}}
    assert read_answer(completion({"tool_calls": [call]}, "stop"))[-1] == Ended(Stop.TOOLS)
    assert streamed(tools(tool(0, "a", "look"), finish="stop"), DONE)[-1] == Ended(Stop.TOOLS)
    assert streamed(tools(tool(0, "a", "look"), finish="length"), DONE)[-1] == Ended(Stop.LENGTH)


def test_interleaved_calls_are_told_apart_by_index() -> None:
    """API-1"""
    events = streamed(
        tools(tool(0, "a", "look", '{"'), tool(1, "b", "find")),
        tools(tool(1, arguments="[")),
        tools(tool(0, arguments='x":1}')),
        tools(tool(1, arguments="]"), finish="tool_calls"),
        DONE,
    )
    assert events == [
        BEGAN,
        CallBegan(0, "a", "look"),
        CallDelta(0, '{"'),
        CallBegan(1, "b", "find"),
        CallDelta(1, "["),
        CallDelta(0, 'x":1}'),
        CallDelta(1, "]"),
        Ended(Stop.TOOLS),
    ]


def test_a_call_begins_when_its_id_and_its_name_have_come() -> None:
    """API-1"""
    events = streamed(
        tools(tool(0, None, "look", '{"')),
        tools(tool(0, None, None, "x")),
        tools(tool(0, "a", None, '":1}')),
        tools(tool(0, "a", "look", " ")),
        DONE,
    )
    assert events == [
        BEGAN,
        CallBegan(0, "a", "look"),
        CallDelta(0, '{"x":1}'),
        CallDelta(0, " "),
        Ended(Stop.TOOLS),
    ]


def test_a_call_without_an_id_gets_one_of_its_own() -> None:
    """API-1: a client answers calls by their ids"""
    function = {"name": "look", "arguments": "{}"}
    whole = read_answer(completion({"tool_calls": [{"function": function}] * 2}))
    stream = streamed(tools(tool(None, None, "look", "{}"), tool(None, None, "look", "{}")), DONE)
    for events in (whole, stream):
        began = [event for event in events if isinstance(event, CallBegan)]
        assert [event.part for event in began] == [0, 1]
        assert len({event.id for event in began} | {""}) == 3
        assert [e.part for e in events if isinstance(e, CallDelta)] == [0, 1]


@pytest.mark.parametrize("index", [None, 0])
def test_calls_without_indexes_are_told_apart_by_their_ids(index: int | None) -> None:
    """API-1: Gemini leaves the index out, and proxies write 0"""
    events = streamed(
        tools(tool(index, "a", "look", "1")),
        tools(tool(index, "b", "look", "2")),
        tools(tool(index, None, None, "3")),
        chunk(finish="stop"),
        DONE,
    )
    assert events[1:-1] == [
        CallBegan(0, "a", "look"),
        CallDelta(0, "1"),
        CallBegan(1, "b", "look"),
        CallDelta(1, "2"),
        CallDelta(1, "3"),
    ]


def test_calls_of_a_whole_answer_are_as_many_as_it_lists() -> None:
    """API-1: even under one id"""
    call = {"id": "a", "index": 0, "function": {"name": "look", "arguments": {"x": 1}}}
    events = read_answer(completion({"tool_calls": [call, call]}))
    assert events[1:-1] == [
        CallBegan(0, "a", "look"),
        CallDelta(0, '{"x":1}'),
        CallBegan(1, "a", "look"),
        CallDelta(1, '{"x":1}'),
    ]


def test_the_old_function_call_is_a_call() -> None:
    """API-1"""
    events = streamed(
        chunk({"function_call": {"name": "look", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk(finish="function_call"),
        DONE,
    )
    assert [type(event) for event in events] == [Began, CallBegan, CallDelta, Ended]


def test_text_after_another_part_is_a_part_of_its_own() -> None:
    """API-1"""
    events = streamed(
        chunk({"reasoning": "a"}),
        chunk({"content": "b"}),
        chunk({"reasoning": "c", "reasoning_content": "c"}),
        tools(tool(0, "a", "look")),
        chunk({"content": "d"}),
        tools(tool(0, arguments="1")),
        chunk({"content": "e"}),
        DONE,
    )
    assert events[1:-1] == [
        ReasoningDelta(0, "a"),
        TextDelta(1, "b"),
        ReasoningDelta(2, "c"),
        CallBegan(3, "a", "look"),
        TextDelta(4, "d"),
        CallDelta(3, "1"),
        TextDelta(4, "e"),
    ]


def test_content_in_parts_is_text_and_thoughts() -> None:
    """API-1: Mistral's models that think"""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thinking, {"type": "text", "text": "hi"}]
    assert read_answer(completion({"content": content}))[1:-1] == [
        ReasoningDelta(0, "hm"),
        TextDelta(1, "hi"),
    ]


def test_other_choices_are_not_read() -> None:
    """API-1: n is lost"""
    other = {"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}
    first = {"index": 0, "delta": {"content": "a"}, "finish_reason": None}
    frames = [Frame(None, json.dumps({**HEAD, "choices": c})) for c in ([other, first], [other])]
    assert streamed(*frames, chunk(finish="length"), DONE) == [
        BEGAN,
        TextDelta(0, "a"),
        Ended(Stop.LENGTH),
    ]


def test_a_first_chunk_without_choices_is_not_the_beginning() -> None:
    """API-1: Azure's tells of its filters"""
    first = Frame(None, json.dumps({"id": "", "model": "", "choices": [], "created": 0}))
    assert streamed(first, chunk({"content": "hi"}, "stop"), DONE)[0] == BEGAN


def test_a_finish_reason_on_every_chunk_ends_the_answer_once() -> None:
    """API-1: Gemini's are so"""
    events = streamed(
        chunk({"content": "a"}, "stop", usage=USAGE),
        chunk({"content": "b"}, "stop", usage=USAGE),
        DONE,
    )
    assert events == [BEGAN, TextDelta(0, "a"), USED, TextDelta(0, "b"), USED, Ended(Stop.END)]


@pytest.mark.parametrize(
    ("given_", "used"),
    [
        (USAGE, USED),
        ({"prompt_tokens": 5, "completion_tokens": 3}, Used(5, 3)),
        ({"prompt_tokens": 5}, Used(5, 0)),
        (
            {"prompt_tokens": 5, "completion_tokens": 3, "prompt_cache_hit_tokens": 4},
            Used(5, 3, cached=4),
        ),
        ({"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}, Used(32, 103)),
        ({"prompt_tokens": 5, "completion_tokens": 3, "prompt_tokens_details": 7}, Used(5, 3)),
        ({"prompt_tokens": True, "completion_tokens": -1}, None),
        ({}, None),
        ("x", None),
    ],
)
def test_usage_is_read_leniently(given_: Any, used: Used | None) -> None:
    """API-3"""
    events = read_answer(completion({"content": "hi"}, usage=given_))
    assert events[2:] == [Ended(Stop.END), *([] if used is None else [used])]


@pytest.mark.parametrize(
    ("frame", "failed"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, Failed("m", "t")),
        ({"error": {"message": "m", "code": "c"}}, Failed("m", "c")),
        ({"error": {"message": "m", "type": "t", "code": 529}}, Failed("m", "t", 529)),
        ({"error": {"message": "m", "type": "t", "code": "529"}}, Failed("m", "t", 529)),
        ({"error": {"message": "m", "status": 503}}, Failed("m", None, 503)),
        ({"error": {"message": "m", "code": 7}}, Failed("m")),
        ({"error": "m"}, Failed("m")),
        ({"error": True}, Failed("the provider's answer failed")),
        ({"error": {"message": 3}}, Failed("the provider's answer failed")),
        ({"object": "error", "message": "m", "type": "t", "code": 400}, Failed("m", "t", 400)),
    ],
)
def test_an_error_in_mid_stream_ends_it(frame: dict[str, Any], failed: Failed) -> None:
    """API-3, API-5"""
    error = Frame(None, json.dumps(frame))
    frames = [chunk({"content": "hi"}), error, chunk({"content": "more"}), DONE]
    assert streamed(*frames) == [BEGAN, TextDelta(0, "hi"), failed]
    assert streamed(error) == [failed]
    assert read_answer(frame) == [failed]


def test_an_event_named_error_is_one_and_an_empty_error_is_none() -> None:
    """API-3"""
    assert streamed(Frame("error", '{"message": "m"}')) == [Failed("m")]
    assert streamed(chunk({"content": "a"}, "stop", error=None))[-1] == Ended(Stop.END)


def test_a_stream_that_breaks_off_has_failed() -> None:
    """API-3: part of an answer is not the answer"""
    broke = Failed("the provider's stream broke off")
    assert streamed(chunk({"content": "hi"})) == [BEGAN, TextDelta(0, "hi"), broke]
    assert streamed() == [broke]
    assert streamed(DONE) == [Failed("the provider's stream has no answer")]


def test_a_finish_reason_is_not_needed_where_the_stream_says_that_it_is_over() -> None:
    """API-3"""
    assert streamed(chunk({"content": "hi"}), DONE)[-1] == Ended(Stop.END)
    assert streamed(tools(tool(0, "a", "look")), DONE)[-1] == Ended(Stop.TOOLS)
    assert streamed(chunk({"content": "hi"}, "length"), usage())[-2:] == [Ended(Stop.LENGTH), USED]


@pytest.mark.parametrize("data", ["{", "[]", "3", '{"choices": {}}', '{"choices": [1]}'])
def test_what_is_no_chunk_fails_the_stream(data: str) -> None:
    """API-3, API-5"""
    (failed,) = streamed(Frame(None, data), DONE)
    assert isinstance(failed, Failed)


def test_a_call_that_has_no_name_fails_the_answer() -> None:
    """API-5"""
    failed = Failed("the provider called a tool without its name")
    assert streamed(tools(tool(0, "a", None, "{}")), DONE) == [BEGAN, failed]
    with pytest.raises(RouterError, match="without its name"):
        read_answer(completion({"tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]}))


def test_an_entry_that_says_nothing_is_no_call() -> None:
    """API-1"""
    assert streamed(tools(tool(0)), chunk(finish="stop"))[-1] == Ended(Stop.END)


def read_or_refused(body: Any) -> None:
    refused: RouterError | None = None
    try:
        read_answer(body)
    except RouterError as error:
        refused = error
    assert refused is None or refused.code is Code.PROVIDER_FAILED


@pytest.mark.parametrize("where", list(places(FULL)), ids=str)
def test_a_wrong_type_anywhere_in_an_answer_fails_the_provider(where: tuple[Any, ...]) -> None:
    """API-5: and nothing else"""
    for value in WRONG:
        read_or_refused(put(FULL, where, value))


@given(st.sampled_from(list(places(FULL))), JSON)
def test_no_value_anywhere_fails_otherwise(where: tuple[Any, ...], value: Any) -> None:
    """API-5"""
    read_or_refused(put(FULL, where, value))


CHUNK = json.loads(chunk({"content": "a", **FULL["choices"][0]["message"]}, "stop").data)


@given(st.lists(st.tuples(st.sampled_from(list(places(CHUNK))), JSON), max_size=3))
def test_no_stream_raises(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """API-3: whatever the chunks, a stream ends, and nothing follows its failure"""
    frames = [Frame(None, json.dumps(put(CHUNK, where, value))) for where, value in changes]
    events = streamed(chunk({"content": "hi"}), *frames, DONE)
    ends = [type(event) for event in events if isinstance(event, (Ended, Failed))]
    assert ends in ([Ended], [Failed], [Ended, Failed])
    assert Failed not in ends or isinstance(events[-1], Failed)
