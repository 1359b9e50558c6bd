"""Chat bodies as neutral conversations: API-1, API-11."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError
from serve_app.wire.chat.conversation import read_conversation
from serve_app.wire.chat.writing import write_request
from serve_app.wire.neutral.conversation import (
    Conversation,
    File,
    Image,
    OutputFormat,
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
from tests.doubles.chat import WRONG, as_sdk_reads, places, put
from tests.doubles.json_values import JSON

HI = {"role": "user", "content": "hi"}


def read(*messages: dict[str, Any], **more: Any) -> Conversation:
    return read_conversation({"model": "auto", "messages": list(messages) or [HI], **more})


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def image(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **more}}


def call(id_: str, arguments: Any = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "look", "arguments": arguments}}


def tool(id_: str, content: Any = "sun") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


FUNCTION = {"name": "look", "description": "looks", "parameters": {"type": "object"}}
FULL: dict[str, Any] = {
    "model": "auto",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "be brief"}]},
        {"role": "developer", "content": "be kind"},
        user(
            {"type": "text", "text": "look"},
            image("data:image/png;base64,AAAA", detail="low"),
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBE"}},
        ),
        {
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "no"}, {"type": "text", "text": "or"}],
            "reasoning_content": "hm",
            "tool_calls": [call("a", '{"x":1}'), call("b")],
        },
        tool("a"),
        tool("b", [{"type": "text", "text": "rain"}]),
        {"role": "assistant", "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "fog"},
        HI,
    ],
    "tools": [{"type": "function", "function": {**FUNCTION, "strict": True}}],
    "functions": [{**FUNCTION, "name": "find"}],
    "tool_choice": {"type": "function", "function": {"name": "look"}},
    "parallel_tool_calls": False,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "out", "schema": {"type": "object"}, "strict": True},
    },
    "max_completion_tokens": 9,
    "temperature": 0.5,
    "top_p": 1,
    "stop": ["END"],
    "seed": 7,
    "frequency_penalty": 0.1,
    "presence_penalty": -0.1,
    "reasoning_effort": "high",
    "stream": True,
    "stream_options": {"include_usage": True},
    "user": "u1",
    "metadata": {"tier": "gold"},
}


def test_a_full_body_is_read_whole() -> None:
    """API-1"""
    assert as_sdk_reads(FULL)["model"] == "auto"
    assert read_conversation(FULL) == Conversation(
        model="auto",
        system=(Text("be brief"), Text("be kind")),
        turns=(
            Turn(
                "user",
                (
                    Text("look"),
                    Image(data="AAAA", media_type="image/png", detail="low"),
                    File(data="JVBE", media_type="application/pdf", name="a.pdf"),
                ),
            ),
            Turn(
                "assistant",
                (
                    Reasoning("hm"),
                    Refusal("no"),
                    Text("or"),
                    ToolCall("a", "look", '{"x":1}'),
                    ToolCall("b", "look", "{}"),
                ),
            ),
            Turn("user", (ToolResult("a", (Text("sun"),)), ToolResult("b", (Text("rain"),)))),
            Turn("assistant", (ToolCall("function_call_6", "look", "{}"),)),
            Turn("user", (ToolResult("function_call_6", (Text("fog"),)),)),
            Turn("user", (Text("hi"),)),
        ),
        tools=(
            Tool("look", "looks", {"type": "object"}, strict=True),
            Tool("find", "looks", {"type": "object"}),
        ),
        tool_choice=ToolChoice("tool", "look", parallel=False),
        output=OutputFormat({"type": "object"}, "out", strict=True),
        sampling=Sampling(
            max_tokens=9,
            temperature=0.5,
            top_p=1,
            stop=("END",),
            seed=7,
            frequency_penalty=0.1,
            presence_penalty=-0.1,
        ),
        thinking=Thinking(effort="high"),
        stream=True,
        include_usage=True,
        user="u1",
        metadata={"tier": "gold"},
    )


def test_system_messages_between_others_are_turns() -> None:
    """API-1"""
    rules = {"role": "developer", "content": "rules"}
    read_ = read(rules, HI, rules)
    assert read_.system == (Text("rules"),)
    assert read_.turns == (Turn("user", (Text("hi"),)), Turn("system", (Text("rules"),)))


def test_results_that_a_message_parts_are_two_turns() -> None:
    """API-1"""
    calls = {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]}
    turns = read(calls, tool("a"), HI, tool("b")).turns
    assert [[type(part) for part in turn.parts] for turn in turns] == [
        [ToolCall, ToolCall],
        [ToolResult],
        [Text],
        [ToolResult],
    ]


def test_an_empty_message_is_no_turn_and_an_empty_result_is_one() -> None:
    """API-1"""
    answer = {"role": "assistant", "content": "", "tool_calls": [call("a", "")]}
    assert read(user({"type": "text", "text": ""}), answer, tool("a", None)).turns == (
        Turn("assistant", (ToolCall("a", "look", "{}"),)),
        Turn("user", (ToolResult("a", ()),)),
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/a.png", Image(url="https://example.org/a.png")),
        ("DATA:Image/PNG;base64,AAAA", Image(data="AAAA", media_type="image/png")),
        ("data:image/png;name=a;base64,AAAA", Image(data="AAAA", media_type="image/png")),
        ("data:image/svg+xml,%3Csvg", Image(data="PHN2Zw==", media_type="image/svg+xml")),
        ("data:,hi", Image(data="aGk=", media_type="text/plain")),
    ],
)
def test_data_urls_are_taken_apart(url: str, expected: Image) -> None:
    """API-1"""
    assert read(user(image(url))).turns == (Turn("user", (expected,)),)
    assert read(user({"type": "image_url", "image_url": url})).turns[0].parts == (expected,)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ({"file_id": "file-1"}, File(id="file-1")),
        ({"file_data": "data:text/plain;base64,aGk="}, File(data="aGk=", media_type="text/plain")),
        ({"file_data": "JVBE"}, File(data="JVBE", media_type="application/pdf")),
        (
            {"file_data": "aGk=", "filename": "a.txt"},
            File(data="aGk=", media_type="text/plain", name="a.txt"),
        ),
    ],
)
def test_files_are_data_or_an_id(file: dict[str, Any], expected: File) -> None:
    """API-1"""
    assert read(user({"type": "file", "file": file})).turns[0].parts == (expected,)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"reasoning": "hm"}, (Reasoning("hm"),)),
        ({"reasoning": "hm", "reasoning_content": "hm"}, (Reasoning("hm"),)),
        ({"refusal": "no"}, (Refusal("no"),)),
        ({"tool_calls": [call("a", {"x": 1})]}, (ToolCall("a", "look", '{"x":1}'),)),
        (
            {"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "c", "input": "1"}}]},
            (ToolCall("a", "c", '{"input":"1"}'),),
        ),
        ({"tool_calls": [{**call("a"), "index": 0}]}, (ToolCall("a", "look", "{}"),)),
    ],
)
def test_what_an_assistant_says_beside_text(given_: dict[str, Any], expected: Any) -> None:
    """API-1"""
    read_ = read(HI, {"role": "assistant", "content": None, **given_})
    assert (read_.turns[1].parts, read_.lost) == (expected, ())


def test_results_of_old_functions_find_their_calls_by_name() -> None:
    """API-1"""

    def called(name: str) -> dict[str, Any]:
        return {"role": "assistant", "function_call": {"name": name, "arguments": "{}"}}

    def answered(name: str) -> dict[str, Any]:
        return {"role": "function", "name": name, "content": "x"}

    turns = read(called("f"), answered("f"), called("f"), answered("f"), answered("g")).turns
    ids = [part.call_id for turn in turns for part in turn.parts if isinstance(part, ToolResult)]
    assert ids == ["function_call_0", "function_call_2", "function_call_4"]


@pytest.mark.parametrize(
    ("more", "choice", "names"),
    [
        ({"tool_choice": "required"}, ToolChoice("required"), ["look", "find"]),
        ({"tool_choice": "any"}, ToolChoice("required"), ["look", "find"]),
        ({"tool_choice": None, "function_call": "none"}, ToolChoice("none"), ["look", "find"]),
        ({"function_call": {"name": "look"}}, ToolChoice("tool", "look"), ["look", "find"]),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {
                        "mode": "auto",
                        "tools": [{"type": "function", "function": {"name": "find"}}],
                    },
                }
            },
            ToolChoice("auto"),
            ["find"],
        ),
    ],
)
def test_a_choice_of_tools(more: dict[str, Any], choice: ToolChoice, names: list[str]) -> None:
    """API-1"""
    tools = [{"type": "function", "function": {"name": name}} for name in ("look", "find")]
    read_ = read(tools=tools, **more)
    assert (read_.tool_choice, [t.name for t in read_.tools], read_.lost) == (choice, names, ())


@pytest.mark.parametrize(
    ("more", "part", "expected"),
    [
        ({"max_tokens": 5}, "sampling", Sampling(max_tokens=5)),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "sampling", Sampling(max_tokens=5)),
        ({"stop": "END"}, "sampling", Sampling(stop=("END",))),
        ({"stop": [""]}, "sampling", Sampling()),
        ({"top_k": 4}, "sampling", Sampling(top_k=4)),
        ({"top_k": -1}, "sampling", Sampling()),
        ({"reasoning_effort": "none"}, "thinking", Thinking(off=True)),
        ({"reasoning_effort": "xhigh"}, "thinking", Thinking(effort="xhigh")),
        ({"response_format": {"type": "text"}}, "output", None),
        ({"response_format": {"type": "json_object"}}, "output", OutputFormat()),
        ({"user": "u", "safety_identifier": "u"}, "user", "u"),
        ({"safety_identifier": "u"}, "user", "u"),
        ({"stream": True}, "include_usage", False),
        ({"metadata": {}}, "metadata", {}),
    ],
)
def test_options_have_their_places(more: dict[str, Any], part: str, expected: Any) -> None:
    """API-1"""
    read_ = read(**more)
    assert (getattr(read_, part), read_.lost) == (expected, ())


@pytest.mark.parametrize(
    ("more", "lost"),
    [
        ({"n": 2, "logprobs": True, "top_logprobs": 3}, ["n", "logprobs", "top_logprobs"]),
        ({"service_tier": "flex", "store": True}, ["service_tier", "store"]),
        ({"max_tokens": 5, "max_completion_tokens": 6}, ["max_tokens"]),
        ({"user": "u", "safety_identifier": "v"}, ["safety_identifier"]),
        ({"reasoning_effort": "default"}, ["reasoning_effort"]),
        ({"metadata": {"a": "b", "c": 1}}, ["metadata.c"]),
        ({"response_format": {"type": "grammar", "grammar": "x"}}, ["response_format"]),
        ({"tools": [{"type": "web_search"}]}, ["tools[0]"]),
        ({"tools": [{"type": "custom", "custom": {"name": "c"}}]}, ["tools[0]"]),
        ({"tool_choice": {"type": "custom", "custom": {"name": "c"}}}, ["tool_choice"]),
        ({"stream_options": {"include_obfuscation": True}}, ["stream_options.include_obfuscation"]),
        ({"x" * 99: {"a": False}}, ["x" * 64]),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"description": "d"}}},
            ["response_format.json_schema.description"],
        ),
    ],
)
def test_what_has_no_place_is_named_by_its_path(more: dict[str, Any], lost: list[str]) -> None:
    """API-1"""
    assert read(**more).lost == tuple(lost)


def test_what_has_no_place_in_messages_is_named_by_its_path() -> None:
    """API-1"""
    read_ = read(
        {"role": "system", "content": [image("https://example.org/a")], "name": "n"},
        user(
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
            {"type": "of_tomorrow", "text": "b"},
            {"type": "file", "file": {"file_data": "AA", "file_id": "f"}},
        ),
        {
            "role": "assistant",
            "content": [image("https://example.org/a"), {"type": "text", "text": "c"}],
            "audio": {"id": "audio-1"},
            "annotations": [],
        },
    )
    assert read_.lost == (
        "messages[0].content[0].image_url",
        "messages[0].name",
        "messages[1].content[0].input_audio",
        "messages[1].content[1].cache_control",
        "messages[1].content[2]",
        "messages[1].content[3].file.file_id",
        "messages[2].content[0].image_url",
        "messages[2].audio",
    )


@pytest.mark.parametrize(
    "more",
    [
        {"n": 1, "logprobs": False, "store": False, "service_tier": "auto", "verbosity": "medium"},
        {"modalities": ["text"], "logit_bias": {}, "prompt_cache_key": "", "prediction": None},
        {"stream": False, "stream_options": None, "tools": [], "functions": None, "stop": None},
    ],
)
def test_what_says_nothing_is_not_lost(more: dict[str, Any]) -> None:
    """API-1"""
    assert read(**more) == read()


def test_zero_is_no_default_where_false_is_one() -> None:
    """API-1"""
    assert read(n=True, store=0).lost == ("n", "store")


def read_or_refused(body: Any) -> None:
    refused: RouterError | None = None
    try:
        write_request(read_conversation(body), "theirs")
    except RouterError as error:
        refused = error
    if refused is not None:
        assert (refused.code, refused.loc[0]) == (Code.INVALID_REQUEST, "body")
        assert len(refused.message) < 200


@pytest.mark.parametrize("where", list(places(FULL)), ids=str)
def test_a_wrong_type_anywhere_is_a_refusal_and_nothing_else(where: tuple[Any, ...]) -> None:
    """API-11"""
    for value in WRONG:
        read_or_refused(put(FULL, where, value))


@given(st.sampled_from(list(places(FULL))), JSON)
def test_no_value_anywhere_fails_otherwise(where: tuple[Any, ...], value: Any) -> None:
    """API-11"""
    read_or_refused(put(FULL, where, value))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("messages", 2, "role"), "robot"),
        (("messages", 2, "content"), 3),
        (("messages", 2, "content", 0), None),
        (("messages", 2, "content", 0, "type"), None),
        (("messages", 2, "content", 0, "text"), None),
        (("messages", 2, "content", 1, "image_url"), None),
        (("messages", 2, "content", 1, "image_url", "url"), "data:image/png;base64"),
        (("messages", 2, "content", 2, "file"), {}),
        (("messages", 3, "tool_calls", 0, "id"), ""),
        (("messages", 3, "tool_calls", 0, "type"), "robot"),
        (("messages", 3, "tool_calls", 0, "function"), None),
        (("messages", 3, "tool_calls", 0, "function", "arguments"), 3),
        (("messages", 4, "tool_call_id"), None),
        (("tools", 0, "function", "name"), None),
        (("tools", 0, "function", "parameters"), []),
        (("tool_choice",), "sometimes"),
        (("tool_choice", "function"), None),
        (("response_format", "json_schema"), None),
        (("max_completion_tokens",), 1.5),
        (("max_completion_tokens",), True),
        (("temperature",), "hot"),
        (("stop",), [3]),
        (("stream_options", "include_usage"), "yes"),
        (("user",), 3),
        (("metadata",), []),
    ],
)
def test_what_is_malformed_is_named(where: tuple[Any, ...], value: Any) -> None:
    """API-11"""
    with pytest.raises(RouterError) as caught:
        read_conversation(put(FULL, where, value))
    loc = ("body", *where)
    assert loc in (caught.value.loc, caught.value.loc[: len(loc)])


@pytest.mark.parametrize("content", ["", [{"type": "input_audio", "input_audio": {}}], None])
def test_messages_that_leave_nothing_are_refused(content: Any) -> None:
    """API-11: a provider that is asked nothing answers anything"""
    with pytest.raises(RouterError) as caught:
        read({"role": "user", "content": content})
    assert caught.value.loc == ("body", "messages")


def test_reading_leaves_the_body_as_it_is() -> None:
    """API-2: the same body may go to a provider of its own format"""
    body = copy.deepcopy(FULL)
    read_conversation(body)
    assert body == FULL
