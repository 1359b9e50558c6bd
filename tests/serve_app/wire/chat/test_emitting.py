"""Events as Chat answers: API-1, API-3, API-5."""

from __future__ import annotations

from typing import Any

import openai
import orjson
import pytest
from hypothesis import given
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion

from serve_app.wire.chat.emitting import ChunkWriter, whole
from serve_app.wire.chat.events import AnswerStream, read_answer
from serve_app.wire.frames import Frames
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
from tests.doubles.chat import answers, sdk_chunks

HEAD: dict[str, Any] = {"model": "auto", "id": "chatcmpl-9", "created": 8}
BEGAN = Began("msg_1", "claude", 7)
ENDED = Ended(Stop.END)


def stream(events: list[Event], include_usage: bool = False) -> bytes:
    writer = ChunkWriter(**HEAD, include_usage=include_usage)
    return b"".join(map(writer.feed, events)) + writer.end()


def chunks(events: list[Event], include_usage: bool = False) -> list[dict[str, Any]]:
    frames = Frames().feed(stream(events, include_usage))
    return [orjson.loads(frame.data) for frame in frames if frame.data != "[DONE]"]


def deltas(events: list[Event]) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks(events)]


def read_again(data: bytes) -> list[Event]:
    reader = AnswerStream()
    events = [event for frame in Frames().feed(data) for event in reader.feed(frame)]
    return events + reader.end()


def said(events: list[Event]) -> tuple[Any, ...]:
    """An answer without the order that a whole one does not keep."""

    def text(kind: Any) -> str:
        return "".join(event.text for event in events if isinstance(event, kind))

    calls = [event for event in events if isinstance(event, CallBegan)]
    arguments = [
        "".join(e.arguments for e in events if isinstance(e, CallDelta) and e.part == call.part)
        for call in calls
    ]
    ends = [event for event in events if isinstance(event, (Ended, Used, Failed))]
    texts = [text(kind) for kind in (TextDelta, RefusalDelta, ReasoningDelta)]
    return (*texts, [(call.id, call.name) for call in calls], arguments, ends)


def told(completion: ChatCompletion) -> tuple[Any, ...]:
    (choice,) = completion.choices
    message = choice.message
    calls = [
        (call.id, call.type, call.function.name, call.function.arguments)
        for call in message.tool_calls or ()
    ]
    thoughts = (message.model_extra or {}).get("reasoning_content")
    texts = (message.role, message.content or None, message.refusal, thoughts)
    head = (completion.id, completion.model, completion.created)
    return (*head, *texts, calls, choice.finish_reason, completion.usage)


@given(answers())
def test_what_is_streamed_and_read_again_is_the_same_events(events: list[Event]) -> None:
    """API-1, API-3"""
    began = Began(HEAD["id"], HEAD["model"], HEAD["created"])
    assert read_again(stream(events, include_usage=True)) == [began, *events[1:]]


@given(answers())
def test_a_whole_answer_says_what_the_stream_says(events: list[Event]) -> None:
    """API-1"""
    body = whole(events, **HEAD)
    assert said(read_answer(body)) == said(events)
    assert said(read_again(stream(events, include_usage=True))) == said(events)


@given(answers())
def test_the_sdk_collects_the_stream_to_the_whole_answer(events: list[Event]) -> None:
    """API-1, API-3"""
    state = ChatCompletionStreamState()
    for chunk in sdk_chunks(stream(events, include_usage=True)):
        state.handle_chunk(chunk)
    expected = ChatCompletion.model_validate(whole(events, **HEAD))
    assert told(state.current_completion_snapshot) == told(expected)


def test_a_stream_is_the_role_the_deltas_the_finish_and_done() -> None:
    """API-3"""
    head = b'data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":8,"model":"auto",'
    choice = b'"choices":[{"index":0,"delta":%b,"logprobs":null,"finish_reason":%b}]}\n\n'
    assert stream([BEGAN, TextDelta(0, "hi"), ENDED, Used(5, 3)]) == b"".join(
        [
            head + choice % (b'{"role":"assistant","content":""}', b"null"),
            head + choice % (b'{"content":"hi"}', b"null"),
            head + choice % (b"{}", b'"stop"'),
            b"data: [DONE]\n\n",
        ]
    )


def test_each_event_is_written_as_it_comes() -> None:
    """API-3: the first token is passed on as soon as it comes"""
    writer = ChunkWriter(**HEAD, include_usage=False)
    assert b'"role":"assistant"' in writer.feed(BEGAN)
    assert b'"content":"h"' in writer.feed(TextDelta(0, "h"))
    assert writer.feed(Used(5, 3)) == b""
    assert b'"finish_reason":"stop"' in writer.feed(ENDED)


def test_usage_is_told_to_those_who_asked() -> None:
    """API-3"""
    events = [BEGAN, Used(1, 1), ENDED, Used(5, 3, cached=2, written=1, reasoning=1)]
    *others, last = chunks(events, include_usage=True)
    assert all(chunk["usage"] is None for chunk in others)
    assert last["choices"] == []
    assert last["usage"] == {
        "prompt_tokens": 5,
        "completion_tokens": 3,
        "total_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    assert all("usage" not in chunk for chunk in chunks(events))
    assert all(chunk["choices"] for chunk in chunks([BEGAN, ENDED], include_usage=True))


def test_calls_count_from_zero_whatever_their_parts() -> None:
    """API-1"""
    events = [
        BEGAN,
        ReasoningDelta(0, "hm", signature="s"),
        ReasoningDelta(0, signature="s"),
        CallBegan(4, "a", "look"),
        CallBegan(7, "b", "find"),
        CallDelta(4, "{}"),
        CallDelta(7, "[]"),
        Ended(Stop.TOOLS),
    ]
    assert deltas(events)[1:-1] == [
        {"reasoning_content": "hm"},
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "a",
                    "type": "function",
                    "function": {"name": "look", "arguments": ""},
                }
            ]
        },
        {
            "tool_calls": [
                {
                    "index": 1,
                    "id": "b",
                    "type": "function",
                    "function": {"name": "find", "arguments": ""},
                }
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": "[]"}}]},
    ]
    message = whole(events, **HEAD)["choices"][0]["message"]
    assert message["content"] is None
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ["{}", "[]"]


def test_the_role_comes_first_even_if_the_answer_never_began() -> None:
    """API-3"""
    assert deltas([TextDelta(0, ""), TextDelta(0, "hi"), ENDED]) == [
        {"role": "assistant", "content": ""},
        {"content": "hi"},
        {},
    ]


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop.END, "stop"),
        (Stop.SEQUENCE, "stop"),
        (Stop.LENGTH, "length"),
        (Stop.TOOLS, "tool_calls"),
        (Stop.FILTER, "content_filter"),
        (Stop.PAUSE, "length"),
    ],
)
def test_every_stop_is_a_finish_reason(stop: Stop, reason: str) -> None:
    """API-1"""
    events = [BEGAN, TextDelta(0, "hi"), Ended(stop)]
    completion = ChatCompletion.model_validate(whole(events, **HEAD))
    assert completion.choices[0].finish_reason == reason
    assert [c.choices[0].finish_reason for c in sdk_chunks(stream(events))][-1] == reason


def test_an_answer_of_nothing_is_an_empty_text() -> None:
    """API-1"""
    message = whole([BEGAN, Ended(Stop.LENGTH)], **HEAD)["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "", "refusal": None}


@pytest.mark.parametrize("before", [[], [BEGAN, TextDelta(0, "hi")], [BEGAN, ENDED]])
def test_a_failure_makes_the_sdk_raise_and_no_done_follows(before: list[Event]) -> None:
    """API-3, API-5"""
    data = stream([*before, Failed("no more", "overloaded_error", 529), TextDelta(0, "x")], True)
    assert b"[DONE]" not in data
    assert b'"x"' not in data
    found = []
    with pytest.raises(openai.APIError) as caught:
        found.extend(sdk_chunks(data))
    assert len(found) == len(before)
    assert caught.value.message == "no more"
    assert (caught.value.type, caught.value.code) == ("overloaded_error", "529")


def test_an_answer_that_breaks_off_is_an_error() -> None:
    """API-3: part of an answer is not the answer"""
    events = [BEGAN, TextDelta(0, "hi")]
    with pytest.raises(openai.APIError, match="broke off"):
        list(sdk_chunks(stream(events)))
    assert whole(events, **HEAD)["error"]["message"] == "the answer broke off"


def test_a_failure_that_is_read_again_is_the_same() -> None:
    """API-5"""
    failed = Failed("no more", "overloaded_error", 529)
    assert read_again(stream([BEGAN, failed]))[1:] == [failed]
    assert read_answer(whole([BEGAN, failed], **HEAD)) == [failed]
    assert whole([Failed("no")], **HEAD)["error"] == {
        "message": "no",
        "type": "server_error",
        "param": None,
        "code": None,
    }
