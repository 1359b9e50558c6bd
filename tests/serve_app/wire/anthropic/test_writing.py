"""Conversations of other formats as bodies for a provider of Messages (API-1)."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from serve_app.errors import WireFormat
from serve_app.wire.anthropic.accepts import CLAUDE_MAX_TOKENS, DEFAULT_MAX_TOKENS, accepts
from serve_app.wire.anthropic.conversation import read_conversation
from serve_app.wire.anthropic.turns import tool_id
from serve_app.wire.anthropic.writing import Written, write_request
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
from tests.serve_app.wire.anthropic import oracle
from tests.serve_app.wire.anthropic.bodies import assistant, call, result, text, user
from tests.serve_app.wire.anthropic.strategies import conversations

OPEN = "qwen3-235b"
NEW = "claude-opus-5"
LOOK = Tool("look", parameters={"type": "object", "properties": {}})


def said(role: Any, *parts: Part | str) -> Turn:
    return Turn(role, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def write(*turns: Turn, model: str = OPEN, **more: Any) -> Written:
    given = Conversation(model="auto", turns=turns or (said("user", "x"),), **more)
    written = write_request(given, model)
    oracle.check_body(written.body)
    return written


def messages(*turns: Turn) -> list[dict[str, Any]]:
    return write(*turns).body["messages"]


@settings(max_examples=200)
@given(conversations())
def test_what_is_written_and_read_again_is_the_same_conversation(given: Conversation) -> None:
    """API-1"""
    written = write_request(given, OPEN)
    oracle.check_body(written.body)
    assert written.lost == ()
    assert read_conversation(written.body) == replace(given, model=OPEN)


def test_the_least_body_has_a_limit() -> None:
    """API-1: Messages demands one"""
    assert write() == Written(
        {"model": OPEN, "max_tokens": DEFAULT_MAX_TOKENS, "messages": [user([text("x")])]}, ()
    )


def test_neighbours_of_one_role_are_one_message() -> None:
    """API-1: roles alternate"""
    assert messages(
        said("user", "a"),
        said("user", "b"),
        said("assistant", "c"),
        said("assistant", " "),
        said("assistant", "d"),
        said("user", "e"),
    ) == [
        user([text("a"), text("b")]),
        assistant([text("c"), text("d")]),
        user([text("e")]),
    ]


def test_results_come_first_in_the_message_after_the_calls() -> None:
    """API-1"""
    assert messages(
        said("user", "a"),
        said("assistant", ToolCall("t", "look", "{}"), ToolCall("u", "look", '{"a":1}')),
        said("user", "b"),
        said("user", ToolResult("t", (Text("c"),)), "d", ToolResult("u", (), failed=True)),
    )[1:] == [
        assistant([call("t"), call("u", a=1)]),
        user([result("t", "c"), result("u", is_error=True), text("b"), text("d")]),
    ]


def test_system_turns_in_the_middle_go_to_the_top() -> None:
    """API-1: there they keep their authority"""
    body = write(
        said("user", "a"),
        said("system", "later", " "),
        said("user", "b"),
        system=(Text("first"), Text("")),
    ).body
    assert body["system"] == [text("first"), text("later")]
    assert body["messages"] == [user([text("a"), text("b")])]


@pytest.mark.parametrize(
    "turns", [(said("assistant", "hi"),), (said("system", "s"),), (said("user", " "),)]
)
def test_a_user_opens_every_conversation(turns: tuple[Turn, ...]) -> None:
    """API-1"""
    assert messages(*turns)[0] == user([text(".")])


def test_a_last_text_of_the_assistant_ends_without_blanks() -> None:
    """API-1: Messages refuses it otherwise"""
    turns = said("assistant", "a "), said("user", "b "), said("assistant", "c \n")
    assert [m["content"][0]["text"] for m in messages(*turns)] == [".", "a ", "b ", "c"]


@pytest.mark.parametrize(
    ("arguments", "input"),
    [
        ("", {}),
        ('{"a": 123456789012345678901}', {"a": 123456789012345678901}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        ('{"a": 1', {"INVALID_JSON": '{"a": 1'}),
    ],
)
def test_arguments_are_an_object(arguments: str, input: dict[str, Any]) -> None:
    """API-1"""
    turns = said("user", "x"), said("assistant", ToolCall("t", "look", arguments))
    assert messages(*turns)[1]["content"][0]["input"] == input


def test_ids_that_messages_refuses_are_others_that_still_match() -> None:
    """API-1"""
    turns = (
        said("user", "x"),
        said("assistant", ToolCall("functions.look:0", "look", "{}")),
        said("user", ToolResult("functions.look:0", ())),
    )
    sent = messages(*turns)
    assert sent[1]["content"][0]["id"] == sent[2]["content"][0]["tool_use_id"]
    assert len({tool_id(id) for id in ("a.b", "a:b", "a_b", "", "_")}) == 5


@pytest.mark.parametrize(
    ("part", "lost"),
    [
        (Image(data="AA", media_type="image/tiff"), ""),
        (Image(data="AA"), ""),
        (File(id="file_1"), ""),
        (File(data="AA", media_type="audio/wav"), ""),
        (File(data="!", media_type="text/plain"), ""),
        (File(text=" "), ""),
        (Image(url="https://example.org", detail="low"), ".detail"),
        (ToolResult("t", (Text("a"), File(id="f"))), ".parts[1]"),
    ],
)
def test_parts_that_messages_cannot_carry_are_named(part: Part, lost: str) -> None:
    """API-1"""
    assert write(said("user", "x", part)).lost == (f"turns[0].parts[1]{lost}",)


@pytest.mark.parametrize(
    ("part", "lost"),
    [
        (Reasoning("hm"), ""),
        (Reasoning("", hidden="x", origin=WireFormat.RESPONSES), ""),
        (Reasoning("hm", signature="s", origin=WireFormat.RESPONSES), ""),
        (Image(url="https://example.org"), ""),
        (File(url="https://example.org"), ""),
    ],
)
def test_what_an_assistant_cannot_say_is_named(part: Part, lost: str) -> None:
    """API-1: thinking goes to the provider alone that knows it again"""
    turns = said("user", "x"), said("assistant", part, "y")
    assert write(*turns).lost == (f"turns[1].parts[0]{lost}",)


def test_a_refusal_is_text_and_a_text_file_a_document() -> None:
    """API-1"""
    data = base64.b64encode(b"a,b").decode()
    file = File(data=data, media_type="text/csv", name="t.csv")
    sent = messages(said("user", file), said("assistant", Refusal("no")))
    source = {"type": "text", "media_type": "text/plain", "data": "a,b"}
    assert sent[0]["content"] == [{"type": "document", "source": source, "title": "t.csv"}]
    assert sent[1]["content"] == [text("no")]


@pytest.mark.parametrize(
    ("given", "sent", "lost"),
    [
        (Sampling(temperature=1.7), {"temperature": 1.0}, ("temperature",)),
        (Sampling(temperature=0.3, top_p=1), {"temperature": 0.3}, ()),
        (Sampling(temperature=1, top_p=0.5), {"top_p": 0.5}, ()),
        (Sampling(seed=7), {}, ("seed",)),
        (
            Sampling(frequency_penalty=0.1, presence_penalty=0.0),
            {},
            ("frequency_penalty",),
        ),
        (Sampling(stop=("\n", "END")), {"stop_sequences": ["END"]}, ("stop[0]",)),
        (Sampling(max_tokens=9), {"max_tokens": 9}, ()),
    ],
)
def test_sampling_is_clipped_and_what_is_lost_named(
    given: Sampling, sent: dict[str, Any], lost: tuple[str, ...]
) -> None:
    """API-1"""
    written = write(sampling=given)
    assert written.lost == lost
    assert {name: written.body.get(name) for name in sent} == sent


@pytest.mark.parametrize(
    ("effort", "most", "budget"),
    [
        ("minimal", None, 1024),
        ("low", None, 1638),
        ("medium", 10_000, 5000),
        ("high", 10_000, 8000),
        ("high", 1025, 1024),
        ("high", 1024, None),
        ("of tomorrow", None, None),
    ],
)
def test_effort_is_a_budget_below_the_limit_or_lost(
    effort: str, most: int | None, budget: int | None
) -> None:
    """API-1"""
    written = write(thinking=Thinking(effort=effort), sampling=Sampling(max_tokens=most))
    if budget is None:
        assert ("thinking" in written.body, written.lost) == (False, ("thinking",))
    else:
        assert written.body["thinking"] == {"type": "enabled", "budget_tokens": budget}
        assert written.lost == ()


@pytest.mark.parametrize(
    ("budget", "lost"), [(2048, ()), (512, ("thinking",)), (8192, ("thinking",))]
)
def test_a_budget_is_kept_where_it_fits(budget: int, lost: tuple[str, ...]) -> None:
    """API-1"""
    assert write(thinking=Thinking(budget_tokens=budget)).lost == lost


@pytest.mark.parametrize(
    ("effort", "sent"), [("minimal", "low"), ("low", "low"), ("medium", "medium"), ("high", "high")]
)
def test_effort_stays_effort_where_the_model_takes_no_budget(effort: str, sent: str) -> None:
    """API-1: newer models refuse a budget"""
    thinks = Thinking(effort=effort)
    written = write(model=NEW, thinking=thinks)
    assert written.lost == ()
    assert written.body["thinking"] == {"type": "adaptive"}
    assert written.body["output_config"] == {"effort": sent}
    forced = write(model=NEW, thinking=thinks, tools=(LOOK,), tool_choice=ToolChoice("required"))
    assert ("thinking" in forced.body, forced.body["output_config"]) == (False, {"effort": sent})
    assert write(model=NEW, thinking=Thinking(budget_tokens=2048)).lost == ("thinking",)


def test_sampling_is_lost_where_the_model_refuses_it() -> None:
    """API-1: newer models refuse it"""
    default = write(model=NEW, sampling=Sampling(temperature=1, top_p=1))
    assert (default.body.keys() & {"temperature", "top_p"}, default.lost) == (set(), ())
    chosen = write(model=NEW, sampling=Sampling(temperature=0.2, top_p=0.5, top_k=3))
    assert chosen.lost == ("temperature", "top_p", "top_k")


@pytest.mark.parametrize(
    ("model", "sampling", "budget", "most"),
    [
        ("claude-3-5-haiku-20241022", True, True, DEFAULT_MAX_TOKENS),
        ("claude-opus-4-20250514", True, True, CLAUDE_MAX_TOKENS),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", True, True, CLAUDE_MAX_TOKENS),
        ("claude-sonnet-4-6", True, False, CLAUDE_MAX_TOKENS),
        ("anthropic/claude-opus-4.7", False, False, CLAUDE_MAX_TOKENS),
        ("claude-haiku-5-5", False, False, CLAUDE_MAX_TOKENS),
        ("claude-mythos-preview", False, False, CLAUDE_MAX_TOKENS),
        ("deepseek-v4", True, True, DEFAULT_MAX_TOKENS),
    ],
)
def test_what_a_model_accepts_is_known_by_its_name(
    model: str, sampling: bool, budget: bool, most: int
) -> None:
    """API-1"""
    accepted = accepts(model)
    assert (accepted.sampling, accepted.budget, accepted.max_tokens) == (sampling, budget, most)


def test_thinking_takes_the_sampling_that_it_forbids() -> None:
    """API-1"""
    written = write(
        thinking=Thinking(effort="low"), sampling=Sampling(temperature=0.2, top_p=0.5, top_k=3)
    )
    assert written.lost == ("temperature", "top_p", "top_k")


def test_thinking_is_lost_where_messages_refuses_it() -> None:
    """API-1: a forced call, and results of calls that were made without thinking"""
    thinks = Thinking(effort="low")
    forced = ToolChoice("required")
    assert write(thinking=thinks, tools=(LOOK,), tool_choice=forced).lost == ("thinking",)
    turns = (
        said("user", "x"),
        said("assistant", ToolCall("t", "look", "{}")),
        said("user", ToolResult("t", ())),
    )
    assert write(*turns, thinking=thinks).lost == ("thinking",)
    signed = Reasoning("hm", signature="s", origin=WireFormat.ANTHROPIC)
    for thought in (signed, Reasoning("", hidden="x", origin=WireFormat.ANTHROPIC)):
        thoughtful = said("assistant", thought, *turns[1].parts)
        assert write(turns[0], thoughtful, turns[2], thinking=thinks).lost == ()


@pytest.mark.parametrize(
    ("schema", "carried"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {}}, False),
        ({"type": "array", "items": {"type": ["object", "null"]}}, False),
        ({"type": "array", "items": {"type": "string"}}, True),
        (None, False),
    ],
)
def test_a_schema_is_the_formats_own_where_every_object_is_closed(
    schema: Any, carried: bool
) -> None:
    """API-1: Messages refuses others, and "any object" cannot be said"""
    written = write(output=OutputFormat(schema, name="answer", strict=True))
    config = {"format": {"type": "json_schema", "schema": schema}}
    assert written.body.get("output_config") == (config if carried else None)
    assert written.lost == (() if carried else ("output",))


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoice(), None),
        (ToolChoice(parallel=False), {"type": "auto", "disable_parallel_tool_use": True}),
        (
            ToolChoice("required", parallel=True),
            {"type": "any", "disable_parallel_tool_use": False},
        ),
        (ToolChoice("none", parallel=False), {"type": "none"}),
        (ToolChoice("tool", "look"), {"type": "tool", "name": "look"}),
    ],
)
def test_every_choice_of_tools_is_written(choice: ToolChoice, sent: Any) -> None:
    """API-1"""
    assert write(tools=(LOOK,), tool_choice=choice).body.get("tool_choice") == sent


def test_a_choice_among_no_tools_is_left_out() -> None:
    """API-1: Messages refuses it"""
    assert "tool_choice" not in write(tool_choice=ToolChoice("auto")).body
    assert write(tool_choice=ToolChoice("required")).lost == ("tool_choice",)


def test_a_tool_without_parameters_takes_none() -> None:
    """API-1"""
    assert write(tools=(Tool("now"),)).body["tools"] == [
        {"name": "now", "input_schema": {"type": "object", "properties": {}}}
    ]


def test_what_the_reader_lost_is_told_first() -> None:
    """API-1"""
    assert write(lost=("messages[0].name",), sampling=Sampling(seed=1)).lost == (
        "messages[0].name",
        "seed",
    )


def test_metadata_beside_the_user_is_lost() -> None:
    """API-1"""
    written = write(user="u", metadata={"team": "blue"})
    assert (written.body["metadata"], written.lost) == ({"user_id": "u"}, ("metadata.team",))
