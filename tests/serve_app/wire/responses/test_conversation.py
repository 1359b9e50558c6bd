"""Responses bodies as conversations of no format: API-1, API-11."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from serve_app.errors import Code, RouterError, WireFormat
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
from serve_app.wire.responses.conversation import read_conversation
from serve_app.wire.responses.request import read_message, read_request
from serve_app.wire.responses.sealing import ReasoningState, seal


def read(given: Any, **more: Any) -> Conversation:
    return read_conversation({"model": "auto", "input": given, **more})


def parts(*content: dict[str, Any], role: str = "user") -> Conversation:
    return read([{"type": "message", "role": role, "content": list(content)}])


THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "so"}, {"type": "summary_text", "text": "then"}],
    "encrypted_content": "gAAA",
    "status": "completed",
}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "look", "annotations": [], "logprobs": []},
        {"type": "refusal", "refusal": "no"},
    ],
}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "a",
    "name": "look",
    "arguments": "{",
    "status": "completed",
}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "rain"}
SEEN = {
    "type": "function_call_output",
    "call_id": "b",
    "output": [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "https://x/a.png", "detail": "low"},
    ],
}
ASKED = {
    "role": "user",
    "content": [
        {"type": "input_text", "text": "what?"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "high"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a"},
        {"type": "input_file", "file_data": "data:text/plain;base64,aGk=", "filename": "b.txt"},
        {"type": "input_file", "file_url": "https://x/c.pdf"},
        {"type": "input_file", "file_id": "file_1"},
    ],
}
EVERYTHING: dict[str, Any] = {
    "model": "auto",
    "instructions": "be kind",
    "input": [
        {"role": "developer", "content": "and short"},
        ASKED,
        THOUGHT,
        SAID,
        CALL,
        {"type": "custom_tool_call", "call_id": "b", "name": "run", "input": "ls"},
        OUTPUT,
        SEEN,
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "new"}]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "look",
            "description": "looks",
            "parameters": {"type": "object"},
            "strict": True,
        }
    ],
    "tool_choice": {"type": "function", "name": "look"},
    "parallel_tool_calls": False,
    "text": {
        "format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}
    },
    "reasoning": {"effort": "low"},
    "include": ["reasoning.encrypted_content"],
    "max_output_tokens": 100,
    "temperature": 0.5,
    "top_p": 1,
    "stream": True,
    "store": False,
    "safety_identifier": "me",
    "metadata": {"tier": "gold"},
    "truncation": "disabled",
    "service_tier": "auto",
    "background": False,
}


def test_everything_that_other_formats_can_say_is_read() -> None:
    """API-1"""
    assert read_conversation(EVERYTHING) == Conversation(
        model="auto",
        system=(Text("be kind"), Text("and short")),
        turns=(
            Turn(
                "user",
                (
                    Text("what?"),
                    Image(data="AAAA", media_type="image/png", detail="high"),
                    File(data="AAAA", media_type="application/pdf", name="a"),
                    File(text="hi", name="b.txt"),
                    File(url="https://x/c.pdf"),
                    File(id="file_1"),
                ),
            ),
            Turn(
                "assistant",
                (
                    Reasoning("so\n\nthen", hidden="rs_1:gAAA", origin=WireFormat.RESPONSES),
                    Text("look"),
                    Refusal("no"),
                    ToolCall("a", "look", "{"),
                    ToolCall("b", "run", "ls"),
                ),
            ),
            Turn(
                "user",
                (
                    ToolResult("a", (Text("rain"),)),
                    ToolResult("b", (Text("see"), Image(url="https://x/a.png", detail="low"))),
                ),
            ),
            Turn("system", (Text("new"),)),
            Turn("assistant", (Text("done"),)),
            Turn("user", (Text("thanks"),)),
        ),
        tools=(Tool("look", "looks", {"type": "object"}, True),),
        tool_choice=ToolChoice("tool", "look", False),
        output=OutputFormat({"type": "object"}, "a", True),
        sampling=Sampling(max_tokens=100, temperature=0.5, top_p=1),
        thinking=Thinking("low"),
        stream=True,
        user="me",
        metadata={"tier": "gold"},
    )


def test_a_text_alone_is_the_users() -> None:
    """API-1"""
    assert read("hi") == Conversation(model="auto", turns=(Turn("user", (Text("hi"),)),))


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "function", "name": "look"}, ToolChoice("tool", "look")),
    ],
)
def test_tool_choices(given: Any, choice: ToolChoice) -> None:
    """API-1"""
    assert read("x", tool_choice=given).tool_choice == choice


def test_allowed_tools_are_the_only_ones() -> None:
    """API-1: other formats have no such list"""
    tools = [{"type": "function", "name": name} for name in ("a", "b")]
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [tools[1]]}
    conversation = read("x", tools=tools, tool_choice=allowed)
    assert [tool.name for tool in conversation.tools] == ["b"]
    assert (conversation.tool_choice, conversation.lost) == (ToolChoice("required"), ())


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, OutputFormat()),
        ({"type": "json_schema", "name": "a", "schema": {}}, OutputFormat({}, "a")),
        (None, None),
    ],
)
def test_output_formats(given: Any, output: OutputFormat | None) -> None:
    """API-1"""
    assert read("x", text={"format": given}).output == output


@pytest.mark.parametrize(
    ("given", "thinking"),
    [
        (None, Thinking()),
        ({"effort": None}, Thinking()),
        ({"effort": "none"}, Thinking(off=True)),
        ({"effort": "xhigh"}, Thinking("xhigh")),
    ],
)
def test_reasoning(given: Any, thinking: Thinking) -> None:
    """API-1"""
    assert read("x", reasoning=given).thinking == thinking


def test_reasoning_of_another_provider_comes_back_as_it_was() -> None:
    """API-1"""
    theirs = WireFormat.ANTHROPIC
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    signed = {**thought, "encrypted_content": seal(ReasoningState("sig", None, theirs))}
    hidden = {**thought, "encrypted_content": seal(ReasoningState(None, "redacted", theirs))}
    changed = {**thought, "encrypted_content": "sealed:{"}
    parts = (Reasoning("", "sig", origin=theirs), Reasoning("", hidden="redacted", origin=theirs))
    assert read([signed, thought, hidden, changed]).turns == (Turn("assistant", parts),)


@pytest.mark.parametrize(
    ("members", "lost"),
    [
        (
            {"tools": [{"type": "web_search"}, {"type": "mcp", "server_label": "x"}]},
            ["tools[0].web_search", "tools[1].mcp"],
        ),
        ({"tools": [{"type": "custom", "name": "x"}]}, ["tools[0].custom"]),
        (
            {"tools": [{"type": "function", "name": "x", "defer_loading": True, "async": False}]},
            ["tools[0].defer_loading"],
        ),
        ({"tool_choice": {"type": "web_search_preview"}}, ["tool_choice.web_search_preview"]),
        ({"tool_choice": {"type": "custom", "name": "x"}}, ["tool_choice.custom"]),
        ({"include": ["web_search_call.results", "reasoning.encrypted_content"]}, ["include[0]"]),
        ({"background": True}, ["background"]),
        ({"service_tier": "flex"}, ["service_tier"]),
        ({"truncation": "auto"}, ["truncation"]),
        ({"previous_response_id": "resp_1"}, ["previous_response_id"]),
        ({"conversation": "conv_1"}, ["conversation"]),
        ({"prompt": {"id": "p"}}, ["prompt"]),
        ({"reasoning": {"summary": "auto", "mode": "standard"}}, ["reasoning.summary"]),
        ({"text": {"verbosity": "low"}}, ["text.verbosity"]),
        ({"text": {"format": {"type": "grammar"}}}, ["text.format.grammar"]),
        ({"max_tool_calls": 3, "top_logprobs": 2}, ["max_tool_calls", "top_logprobs"]),
        ({"prompt_cache_key": "k", "unknown": 1}, ["prompt_cache_key", "unknown"]),
        (
            {"background": None, "top_logprobs": 0, "prompt": None, "unknown": [], "store": True}
            | {"stream_options": {"include_obfuscation": True}, "text": {"verbosity": "medium"}},
            [],
        ),
    ],
)
def test_what_has_no_place_is_lost_by_name(members: dict[str, Any], lost: list[str]) -> None:
    """API-1"""
    assert list(read("x", **members).lost) == lost


@pytest.mark.parametrize(
    ("item", "lost"),
    [
        ({"type": "item_reference", "id": "msg_1"}, "input[0].item_reference"),
        ({"id": "msg_1"}, "input[0].item_reference"),
        ({"type": "web_search_call", "id": "ws_1"}, "input[0].web_search_call"),
        ({"type": "compaction", "encrypted_content": "x"}, "input[0].compaction"),
        ({**CALL, "namespace": "x"}, "input[0].namespace"),
        (
            {"role": "assistant", "content": "x", "phase": "commentary"},
            "input[0].phase",
        ),
        (
            {"role": "user", "content": [{"type": "input_audio"}]},
            "input[0].content[0].input_audio",
        ),
        (
            {"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]},
            "input[0].content[0].file_id",
        ),
        (
            {
                "role": "system",
                "content": [{"type": "input_image", "image_url": "https://x"}],
            },
            "input[0].content",
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "output_text", "text": "x", "annotations": [{"url": "u"}]}],
            },
            "input[0].content[0].annotations",
        ),
    ],
)
def test_what_of_an_item_has_no_place_is_lost_by_name(item: dict[str, Any], lost: str) -> None:
    """API-1"""
    assert read([item]).lost == (lost,)


def test_neighbouring_turns() -> None:
    """API-1: the assistant's are one, results are one, messages of the user are each their own"""
    asked = {"role": "user", "content": "x"}
    conversation = read([asked, asked, THOUGHT, CALL, SAID, OUTPUT, SEEN, asked])
    assert [(turn.role, len(turn.parts)) for turn in conversation.turns] == [
        *(("user", 1), ("user", 1), ("assistant", 4), ("user", 2), ("user", 1)),
    ]


def test_a_bare_file_is_what_its_bytes_are() -> None:
    """API-1"""
    file = {"type": "input_file", "filename": "a"}
    read = {
        data: parts({**file, "file_data": data}).turns[0].parts
        for data in ("aGk=", "JVBERi0x", "////", "AAAA")
    }
    assert read == {
        "aGk=": (File(text="hi", name="a"),),
        "JVBERi0x": (File(data="JVBERi0x", media_type="application/pdf", name="a"),),
        "////": (File(data="////", media_type="application/octet-stream", name="a"),),
        "AAAA": (File(data="AAAA", media_type="application/octet-stream", name="a"),),
    }


@pytest.mark.parametrize(
    ("members", "loc"),
    [
        ({"tools": {}}, ("tools",)),
        ({"tools": [3]}, ("tools", 0)),
        ({"tools": [{"type": "function"}]}, ("tools", 0, "name")),
        (
            {"tools": [{"type": "function", "name": "x", "parameters": []}]},
            ("tools", 0, "parameters"),
        ),
        ({"tool_choice": "all"}, ("tool_choice",)),
        ({"tool_choice": {"type": "function"}}, ("tool_choice", "name")),
        ({"tool_choice": {"type": "allowed_tools", "mode": "none"}}, ("tool_choice", "mode")),
        ({"text": {"format": {"type": "json_schema"}}}, ("text", "format", "schema")),
        ({"temperature": True}, ("temperature",)),
        ({"max_output_tokens": 1.5}, ("max_output_tokens",)),
        ({"metadata": {"a": 1}}, ("metadata", "a")),
        ({"include": [3]}, ("include",)),
        ({"input": [{**CALL, "arguments": {}}]}, ("input", 0, "arguments")),
        ({"input": [{**OUTPUT, "call_id": None}]}, ("input", 0, "call_id")),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file"}]}]},
            ("input", 0, "content", 0, "file_data"),
        ),
        (
            {
                "input": [
                    {
                        "role": "user",
                        "content": [{"type": "input_image", "image_url": "data:image/png,x"}],
                    }
                ]
            },
            ("input", 0, "content", 0, "image_url"),
        ),
    ],
)
def test_a_wrong_field_is_refused_with_its_place(members: Any, loc: tuple[Any, ...]) -> None:
    """API-11"""
    with pytest.raises(RouterError) as caught:
        read_conversation({"model": "auto", "input": "x", **members})
    assert (caught.value.code, caught.value.loc) == (Code.INVALID_REQUEST, ("body", *loc))


def places(value: Any) -> Iterator[list[Any]]:
    """The way to every member of every container."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield [key]
        if isinstance(member, dict | list):
            yield from ([key, *more] for more in places(member))


@pytest.mark.parametrize("wrong", [None, True, 3, 1e400, "x", "", [], {}, [3], [{}], {"type": "x"}])
def test_a_wrong_type_anywhere_is_refused_and_nothing_else(wrong: Any) -> None:
    """API-11"""
    for place in places(EVERYTHING):
        body = copy.deepcopy(EVERYTHING)
        container = body
        for key in place[:-1]:
            container = container[key]
        container[place[-1]] = wrong
        for reader in (read_conversation, lambda body: read_message(read_request(body).body, {})):
            assert refusal(reader, body) in (None, Code.INVALID_REQUEST)


def refusal(reader: Callable[[Any], object], body: Any) -> Code | None:
    try:
        reader(body)
    except RouterError as error:
        return error.code
    return None
