"""Conversations of other formats as Chat bodies: API-1, API-3."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from serve_app.wire.chat.conversation import read_conversation
from serve_app.wire.chat.writing import Written, write_request
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
from tests.doubles.chat import as_sdk_reads, conversations

PIXEL = Image(data="AAAA", media_type="image/png")
PIXEL_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def written(*turns: Turn, **more: Any) -> Written:
    return write_request(Conversation("asked", turns, **more), "theirs")


def messages(*turns: Turn, **more: Any) -> list[dict[str, Any]]:
    body = written(*turns, **more).body
    assert as_sdk_reads(body)["messages"] is not None
    return body["messages"]


def user(*parts: Part) -> Turn:
    return Turn("user", parts)


def assistant(*parts: Part) -> Turn:
    return Turn("assistant", parts)


def call(id_: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id_, "look", arguments)


def result(id_: str, *parts: Text | Image | File, failed: bool = False) -> ToolResult:
    return ToolResult(id_, parts, failed)


@given(conversations())
def test_a_conversation_that_is_written_and_read_again_is_the_same(given_: Conversation) -> None:
    """API-1"""
    body = write_request(given_, "theirs").body
    assert read_conversation(body) == replace(given_, model="theirs")


@given(conversations())
def test_the_sdk_knows_every_member_that_is_written(given_: Conversation) -> None:
    """API-1; reasoning_content is of servers beside OpenAI's"""
    body = write_request(given_, "theirs").body
    for message in body["messages"]:
        message.pop("reasoning_content", None)
    assert as_sdk_reads(body) == body


def test_the_system_text_comes_first_and_as_one_string() -> None:
    """API-1"""
    assert messages(user(Text("hi")), system=(Text("be brief"), Text("be kind"))) == [
        {"role": "system", "content": "be brief\n\nbe kind"},
        {"role": "user", "content": "hi"},
    ]


def test_results_stand_directly_after_their_calls_and_before_the_users_text() -> None:
    """API-1: Anthropic's turns mix them"""
    found = messages(
        user(Text("go")),
        assistant(Text("I look."), call("a"), call("b", "")),
        user(Text("and?"), result("b", Text("sun")), result("a", Text("rain"), Text("wind"))),
    )
    assert found[1:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "rain\n\nwind", "tool_call_id": "a"},
        {"role": "tool", "content": "sun", "tool_call_id": "b"},
        {"role": "user", "content": "and?"},
    ]


def test_a_result_moves_up_to_its_call_over_turns_between() -> None:
    """API-1: items of the Responses format may stand apart"""
    found = messages(
        user(Text("go")),
        assistant(call("a")),
        assistant(call("b")),
        Turn("system", (Text("rules"),)),
        user(result("a"), result("b")),
    )
    assert [(m["role"], m.get("tool_call_id")) for m in found] == [
        ("user", None),
        ("assistant", None),
        ("tool", "a"),
        ("assistant", None),
        ("tool", "b"),
        ("system", None),
    ]


def test_an_id_that_is_used_twice_has_the_result_after_each_call() -> None:
    """API-1"""
    found = messages(
        assistant(call("a")),
        user(result("a", Text("one"))),
        assistant(call("a")),
        user(result("a", Text("two"))),
    )
    assert [m["content"] for m in found] == [None, "one", None, "two"]


def test_a_result_without_a_call_stays_where_it_is() -> None:
    """API-5: the provider says what it thinks of it"""
    found = messages(user(Text("hi"), result("x", Text("rain"))), assistant(call("x")))
    assert [m["role"] for m in found] == ["tool", "user", "assistant"]


def test_a_failed_result_says_so() -> None:
    """API-1"""
    found = messages(assistant(call("a")), user(result("a", Text("no net"), failed=True)))
    assert found[1]["content"] == "The tool call failed.\n\nno net"


def test_images_of_results_are_in_the_users_next_message() -> None:
    """API-1: a tool message holds text alone"""
    found = messages(
        assistant(call("a"), call("b")),
        user(result("a", Text("seen"), PIXEL), result("b", PIXEL), Text("well?")),
    )
    assert [m["content"] for m in found[1:3]] == [
        "seen\n\nMore of the result is in the next message of the user.",
        "More of the result is in the next message of the user.",
    ]
    assert found[3] == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Result of the tool call a:"},
            PIXEL_PART,
            {"type": "text", "text": "Result of the tool call b:"},
            PIXEL_PART,
            {"type": "text", "text": "well?"},
        ],
    }


@pytest.mark.parametrize("after", [[], [assistant(Text("seen"))]])
def test_images_of_results_need_no_word_of_the_user(after: list[Turn]) -> None:
    """API-1"""
    found = messages(assistant(call("a")), user(result("a", PIXEL)), *after)
    assert [m["role"] for m in found] == ["assistant", "tool", "user", *(t.role for t in after)]


def test_texts_side_by_side_are_one_and_others_are_paragraphs() -> None:
    """API-1: Anthropic cuts a text where a citation begins"""
    turn = assistant(Text("It is "), Text("four."), call("a"), Text("Right?"))
    assert messages(turn)[0]["content"] == "It is four.\n\nRight?"


def test_open_thoughts_go_back_and_signed_ones_are_lost() -> None:
    """API-1"""
    answer = written(
        user(Text("hi")),
        assistant(
            Reasoning("hm"),
            Reasoning("mine", signature="s"),
            Reasoning("", hidden="h"),
            Text("yes"),
        ),
        assistant(Reasoning("no more", signature="s")),
    )
    assert answer.body["messages"][1:] == [
        {"role": "assistant", "content": "yes", "reasoning_content": "hm"}
    ]
    assert answer.lost == (
        "turns[1].parts[1]",
        "turns[1].parts[2]",
        "turns[2].parts[0]",
    )


def test_a_refusal_is_its_own_member() -> None:
    """API-1"""
    assert messages(assistant(Refusal("no"))) == [
        {"role": "assistant", "content": None, "refusal": "no"}
    ]


def test_documents_are_files_or_texts() -> None:
    """API-1"""
    (message,) = messages(
        user(
            File(data="JVBE", media_type="application/pdf"),
            File(text="a, b", name="t.csv"),
            File(text="c"),
        )
    )
    data = "data:application/pdf;base64,JVBE"
    assert message["content"] == [
        {"type": "file", "file": {"filename": "document.pdf", "file_data": data}},
        {"type": "text", "text": "t.csv\n\na, b"},
        {"type": "text", "text": "c"},
    ]


def test_what_chat_has_no_place_for_is_named() -> None:
    """API-1"""
    answer = written(
        Turn("system", (PIXEL,)),
        user(Text("hi"), File(url="https://example.org/a.pdf"), File(id="file-1"), Image()),
        assistant(call("a"), PIXEL),
        user(result("a", File(id="file-1"))),
        sampling=Sampling(top_k=4),
        lost=("service_tier",),
    )
    assert answer.lost == (
        "service_tier",
        "turns[0].parts[0]",
        "turns[1].parts[1]",
        "turns[1].parts[2]",
        "turns[1].parts[3]",
        "turns[2].parts[1]",
        "turns[3].parts[0].parts[0]",
        "top_k",
    )


@pytest.mark.parametrize(
    ("thinking", "effort"),
    [
        (Thinking(), None),
        (Thinking(off=True), "none"),
        (Thinking(effort="minimal", budget_tokens=30_000), "minimal"),
        (Thinking(budget_tokens=1024), "low"),
        (Thinking(budget_tokens=4096), "medium"),
        (Thinking(budget_tokens=16384), "high"),
    ],
)
def test_thinking_is_an_effort(thinking: Thinking, effort: str | None) -> None:
    """API-1"""
    body = written(user(Text("hi")), thinking=thinking).body
    assert body.get("reasoning_effort") == effort
    assert as_sdk_reads(body) == body


def test_a_stream_is_asked_for_its_usage() -> None:
    """API-3"""
    body = written(user(Text("hi")), stream=True, include_usage=False).body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert "stream_options" not in written(user(Text("hi"))).body


def test_a_choice_among_no_tools_is_not_written() -> None:
    """API-1: servers refuse it"""
    choice = ToolChoice("auto", parallel=False)
    assert set(written(user(Text("hi")), tool_choice=choice).body) == {"model", "messages"}
    body = written(user(Text("hi")), tool_choice=choice, tools=(Tool("look"),)).body
    assert body["tools"] == [{"type": "function", "function": {"name": "look"}}]
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("auto", False)


def test_a_schema_without_a_name_gets_one() -> None:
    """API-1"""
    body = written(user(Text("hi")), output=OutputFormat(schema={"type": "object"})).body
    assert as_sdk_reads(body)["response_format"]["json_schema"]["name"] == "answer"
