"""Conversations of other formats as requests to a Responses provider: API-1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

from serve_app.errors import WireFormat
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
from serve_app.wire.responses.request import read_message
from serve_app.wire.responses.writing import write_request

PARAMS: dict[bool, TypeAdapter[Any]] = {
    False: TypeAdapter(ResponseCreateParamsNonStreaming),
    True: TypeAdapter(ResponseCreateParamsStreaming),
}

TEXT = st.text(min_size=1, max_size=6)
URL = st.just("https://x/a")
OPTIONAL = st.none() | TEXT

TEXTS = st.builds(Text, TEXT)
IMAGES = st.builds(Image, url=URL, detail=st.sampled_from(["low", "high", "auto"])) | st.builds(
    Image, data=st.just("AAAA"), media_type=st.just("image/png"), detail=st.just("auto")
)
FILES = (
    st.builds(File, url=URL, name=OPTIONAL)
    | st.builds(File, data=st.just("AAAA"), media_type=st.just("application/pdf"), name=TEXT)
    | st.builds(File, text=TEXT, name=TEXT)
    | st.builds(File, id=TEXT)
)
SHOWN = TEXTS | IMAGES | FILES
THOUGHTS = st.builds(
    Reasoning,
    st.text(max_size=5),
    hidden=st.sampled_from(["rs_1:gA", "r:A"]),
    origin=st.just(WireFormat.RESPONSES),
)
RESULTS = st.builds(ToolResult, TEXT, st.lists(SHOWN, max_size=3).map(tuple))
CALLS = st.builds(ToolCall, TEXT, TEXT, st.text(max_size=5))
ASSISTANT = TEXTS | st.builds(Refusal, TEXT) | THOUGHTS | CALLS


def turn(role: str, parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(Turn, st.just(role), st.lists(parts, min_size=1, max_size=3).map(tuple))


ASKED = turn("user", SHOWN)
EXCHANGES = st.lists(
    st.sampled_from(["ask", "answer", "results", "rules"]).flatmap(
        lambda kind: {
            "ask": ASKED,
            "answer": st.tuples(turn("assistant", ASSISTANT), ASKED),
            "results": st.tuples(turn("user", RESULTS), turn("assistant", ASSISTANT), ASKED),
            "rules": turn("system", TEXTS),
        }[kind]
    ),
    max_size=3,
)


def flat(first: Turn, exchanges: list[Any]) -> tuple[Turn, ...]:
    """No two turns follow one another that the format could not tell apart."""
    turns = [first]
    for one in exchanges:
        turns += [one] if isinstance(one, Turn) else one
    return tuple(turns)


SCHEMA = st.dictionaries(TEXT, st.integers(0, 9) | TEXT, max_size=2)
CONVERSATIONS = st.builds(
    Conversation,
    model=TEXT,
    turns=st.builds(flat, ASKED, EXCHANGES),
    system=st.lists(TEXTS, max_size=1).map(tuple),
    tools=st.lists(
        st.builds(Tool, TEXT, OPTIONAL, st.none() | SCHEMA, st.booleans()), max_size=2
    ).map(tuple),
    tool_choice=st.builds(
        ToolChoice,
        st.sampled_from(["auto", "none", "required", None]),
        parallel=st.none() | st.booleans(),
    )
    | st.builds(ToolChoice, st.just("tool"), TEXT),
    output=st.none()
    | st.just(OutputFormat())
    | st.builds(OutputFormat, SCHEMA, TEXT, st.none() | st.booleans()),
    sampling=st.builds(
        Sampling,
        max_tokens=st.none() | st.integers(1, 99),
        temperature=st.none() | st.floats(0, 2),
        top_p=st.none() | st.floats(0, 1),
    ),
    thinking=st.sampled_from([Thinking(), Thinking("low"), Thinking(off=True)]),
    stream=st.booleans(),
    user=OPTIONAL,
    metadata=st.dictionaries(TEXT, TEXT, max_size=2),
)


@given(CONVERSATIONS)
def test_what_is_written_is_read_again_as_it_was(conversation: Conversation) -> None:
    """API-1"""
    written = write_request(conversation, "gpt")
    assert written.lost == ()
    assert read_conversation(written.body) == replace(conversation, model="gpt")


@given(CONVERSATIONS)
def test_requests_are_of_the_sdks_types(conversation: Conversation) -> None:
    """API-1"""
    written = write_request(conversation, "gpt")
    checked = PARAMS[conversation.stream].validate_python(written.body)
    assert len(list(checked.get("tools", ()))) == len(conversation.tools)  # checked as it is drawn
    assert written.body["store"] is False


@given(CONVERSATIONS)
def test_every_text_is_in_what_the_policy_would_read(conversation: Conversation) -> None:
    """SIG-2: both readers see the same"""
    message = read_message(write_request(conversation, "gpt").body, {})
    seen = "\n".join([message.text, *(t.text for t in message.earlier), *message.tool_results])
    after = conversation.turns[: max(i for i, t in enumerate(conversation.turns) if said(t)) + 1]
    texts = [part.text for t in after for part in t.parts if isinstance(part, Text | Refusal)]
    assert all(text in seen for text in texts)


def said(turn: Turn) -> bool:
    """A message of the user; what comes after the latest is no part of the policy's view."""
    return turn.role == "user" and not any(isinstance(part, ToolResult) for part in turn.parts)


def conversation(*turns: Turn, **more: Any) -> Conversation:
    return Conversation("auto", turns, **more)


def test_the_shortest_request() -> None:
    """API-1: nothing is stored at the provider"""
    written = write_request(conversation(Turn("user", (Text("hi"),))), "gpt")
    assert written.body == {
        "model": "gpt",
        "input": [{"type": "message", "role": "user", "content": "hi"}],
        "store": False,
    }


def test_several_system_texts_are_the_instructions() -> None:
    """API-1"""
    written = write_request(conversation(system=(Text("a"), Text("b"))), "gpt")
    assert written.body["instructions"] == "a\n\nb"


def test_what_the_format_cannot_carry_is_lost_by_name() -> None:
    """API-1"""
    sampling = Sampling(stop=("x",), top_k=0, seed=0, frequency_penalty=0.5, presence_penalty=1.0)
    written = write_request(
        conversation(
            Turn("assistant", (Reasoning("so", "sig"), Image(url="https://x"), Text("a"))),
            Turn("user", (ToolResult("a", (Text("no"),), failed=True),)),
            sampling=sampling,
            thinking=Thinking(budget_tokens=5000),
            lost=("messages[0].audio",),
        ),
        "gpt",
    )
    assert written.lost == (
        *("messages[0].audio", "turns[0].parts[0].reasoning", "turns[0].parts[1].image"),
        *("turns[1].parts[0].failed", "stop", "top_k", "seed"),
        *("frequency_penalty", "presence_penalty", "thinking.budget_tokens"),
    )
    assert [item["type"] for item in written.body["input"]] == ["message", "function_call_output"]


def test_penalties_of_nought_say_nothing() -> None:
    """API-1"""
    sampling = Sampling(frequency_penalty=0.0, presence_penalty=0.0)
    assert write_request(conversation(sampling=sampling), "gpt").lost == ()


@pytest.mark.parametrize(
    ("thinking", "reasoning", "include"),
    [
        (Thinking(), None, None),
        (Thinking(off=True), {"effort": "none"}, None),
        (Thinking("high"), {"effort": "high"}, ["reasoning.encrypted_content"]),
        (Thinking(budget_tokens=1024), {"effort": "low"}, ["reasoning.encrypted_content"]),
        (Thinking(budget_tokens=8192), {"effort": "medium"}, ["reasoning.encrypted_content"]),
        (Thinking(budget_tokens=32000), {"effort": "high"}, ["reasoning.encrypted_content"]),
        (Thinking("low", 32000), {"effort": "low"}, ["reasoning.encrypted_content"]),
    ],
)
def test_thinking_is_an_effort(thinking: Thinking, reasoning: Any, include: Any) -> None:
    """API-1: encrypted reasoning is asked for where a model reasons, others refuse to be asked"""
    body = write_request(conversation(thinking=thinking), "gpt").body
    assert (body.get("reasoning"), body.get("include")) == (reasoning, include)


def test_reasoning_goes_back_to_the_provider_that_encrypted_it() -> None:
    """API-1"""
    thoughts = (
        Reasoning("so", hidden="rs_1:gAAA", origin=WireFormat.RESPONSES),
        Reasoning("", hidden=":gBBB", origin=WireFormat.RESPONSES),
        Reasoning("", hidden="rs_1:another's", origin=WireFormat.ANTHROPIC),
    )
    written = write_request(conversation(Turn("assistant", thoughts)), "gpt")
    assert written.body["input"] == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "so"}],
            "encrypted_content": "gAAA",
        },
        {"type": "reasoning", "summary": [], "encrypted_content": "gBBB"},
    ]
    assert written.lost == ("turns[0].parts[2].reasoning",)
    assert written.body["include"] == ["reasoning.encrypted_content"]


def test_tools_are_strict_only_where_they_say_so() -> None:
    """API-1: what is not said is strict in this format alone"""
    tools = (Tool("a"), Tool("b", strict=True))
    written = write_request(conversation(tools=tools), "gpt")
    assert [tool["strict"] for tool in written.body["tools"]] == [False, True]


def test_a_schema_has_a_name() -> None:
    """API-1"""
    body = write_request(conversation(output=OutputFormat({})), "gpt").body
    assert body["text"] == {"format": {"type": "json_schema", "name": "answer", "schema": {}}}


def test_a_file_that_stands_in_the_request_has_a_name() -> None:
    """API-1"""
    files = (File(text="hi"), File(data="AAAA", media_type="application/pdf"))
    (item,) = write_request(conversation(Turn("user", files)), "gpt").body["input"]
    assert [part["filename"] for part in item["content"]] == ["document.txt", "document.pdf"]
