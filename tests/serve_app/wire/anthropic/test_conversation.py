"""Bodies of Messages as conversations (API-1, API-11)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError, WireFormat
from serve_app.wire.anthropic.conversation import read_conversation
from serve_app.wire.anthropic.emitting import whole
from serve_app.wire.anthropic.request import read_message, read_request
from serve_app.wire.neutral.conversation import (
    Conversation,
    File,
    Image,
    OutputFormat,
    Part,
    Reasoning,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)
from serve_app.wire.neutral.events import Began, Ended, ReasoningDelta, Stop, TextDelta
from tests.serve_app.wire.anthropic import oracle
from tests.serve_app.wire.anthropic.bodies import (
    CACHED,
    PNG,
    SCHEMA,
    assistant,
    body,
    call,
    document,
    image,
    places,
    plain,
    result,
    rich,
    text,
    user,
    with_value,
)
from tests.serve_app.wire.anthropic.strategies import VALUES


def lost(*messages: dict[str, Any], **more: Any) -> tuple[str, ...]:
    return read_conversation(body(*(messages or [user("x")]), **more)).lost


def parts(*blocks: dict[str, Any]) -> tuple[Part, ...]:
    return read_conversation(body(user(list(blocks)))).turns[0].parts


def test_everything_of_the_format_has_its_place() -> None:
    """API-1"""
    oracle.check_body(rich())
    assert read_conversation(rich()) == Conversation(
        model="auto",
        system=(Text("Be kind."), Text("Be exact.")),
        turns=(
            Turn("user", (Text("Hello."),)),
            Turn(
                "assistant",
                (
                    Reasoning("hm", signature="c2ln", origin=WireFormat.ANTHROPIC),
                    Reasoning("", hidden="ZGF0YQ==", origin=WireFormat.ANTHROPIC),
                    Text("Looking."),
                    ToolCall("t1", "look", '{"city":"Bern"}'),
                    ToolCall("t2", "look", "{}"),
                ),
            ),
            Turn(
                "user",
                (
                    ToolResult("t1", (Text("rain"),)),
                    ToolResult(
                        "t2",
                        (
                            Text("sun"),
                            Image(data="AAAA", media_type="image/png"),
                            File(text="page"),
                        ),
                        failed=True,
                    ),
                    Text("And these?"),
                    Image(url="https://example.org/a.png"),
                    File(data="JVBE", media_type="application/pdf", name="report"),
                    File(text="notes", name="notes"),
                    File(url="https://example.org/a.pdf"),
                    File(id="file_1"),
                    File(text="one\ntwo"),
                    Image(data="AAAA", media_type="image/png"),
                    File(text="three"),
                    Text("Title\nhttps://example.org\nfound"),
                ),
            ),
            Turn("system", (Text("Be brief."),)),
            Turn("user", (Text("Go on."),)),
        ),
        tools=(
            Tool("look", "Weather.", SCHEMA, strict=True),
            Tool("now", parameters={"type": "object"}),
        ),
        tool_choice=ToolChoice("tool", "look", parallel=False),
        output=OutputFormat(SCHEMA),
        sampling=Sampling(4096, 0.5, 0.9, 40, ("END", "STOP")),
        thinking=Thinking(effort="low", budget_tokens=2048),
        stream=True,
        user="u1",
    )


def test_thinking_that_another_format_gave_comes_back_to_it() -> None:
    """API-1: what a client of Messages was given, and returns unchanged"""
    events = [
        Began("1", "m"),
        ReasoningDelta(0, "hm"),
        ReasoningDelta(1, hidden="x", origin=WireFormat.RESPONSES),
        TextDelta(2, "y"),
        Ended(Stop.END),
    ]
    content = whole(events, id="1", model="m")["content"]
    assert read_conversation(body(user("x"), assistant(content))).turns[1].parts == (
        Reasoning("hm"),
        Reasoning("", hidden="x", origin=WireFormat.RESPONSES),
        Text("y"),
    )


def test_system_messages_that_open_the_list_are_the_systems() -> None:
    """API-1"""
    read = read_conversation(body({"role": "system", "content": "b"}, user("x"), system="a"))
    assert (read.system, read.turns) == (
        (Text("a"), Text("b")),
        (Turn("user", (Text("x"),)),),
    )


def test_a_data_url_is_an_image_of_its_bytes() -> None:
    """API-1"""
    url = "data:image/png;base64,AAAA"
    expected = Image(data="AAAA", media_type="image/png")
    assert parts(image({"type": "url", "url": url})) == (expected,)
    with pytest.raises(RouterError):
        parts(image({"type": "url", "url": "data:image/svg+xml,<svg/>"}))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "auto", "disable_parallel_tool_use": False}, ToolChoice("auto", parallel=True)),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "tool", "name": "look"}, ToolChoice("tool", "look")),
    ],
)
def test_every_choice_of_tools_is_read(choice: dict[str, Any], expected: ToolChoice) -> None:
    """API-1"""
    tools = [{"name": "look", "input_schema": SCHEMA}]
    read = read_conversation(body(user("x"), tools=tools, tool_choice=choice))
    assert (read.tool_choice, read.lost) == (expected, ())


@pytest.mark.parametrize(
    ("thinking", "effort", "expected", "missing"),
    [
        ({"type": "disabled"}, None, Thinking(off=True), ()),
        ({"type": "enabled", "budget_tokens": 1024}, None, Thinking(budget_tokens=1024), ()),
        ({"type": "adaptive"}, None, Thinking(), ("thinking.type",)),
        ({"type": "adaptive"}, "medium", Thinking("medium"), ()),
        ({"type": "between_tools"}, None, Thinking(), ("thinking.type",)),
        (None, "max", Thinking("high"), ("output_config.effort",)),
        (None, "of tomorrow", Thinking(), ("output_config.effort",)),
    ],
)
def test_thinking_and_effort_are_read(
    thinking: Any, effort: str | None, expected: Thinking, missing: tuple[str, ...]
) -> None:
    """API-1"""
    config = None if effort is None else {"effort": effort}
    read = read_conversation(body(user("x"), thinking=thinking, output_config=config))
    assert (read.thinking, read.lost) == (expected, missing)


def test_hints_for_the_cache_are_lost_once() -> None:
    """API-1: one name, not one per block"""
    assert lost(
        user([text("a", **CACHED), text("b", **CACHED)]),
        assistant([text("c", **CACHED)]),
        system=[text("s", **CACHED)],
        tools=[{"name": "look", "input_schema": SCHEMA, **CACHED}],
        **CACHED,
    ) == ("cache_control",)


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, ""),
        ({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, ""),
        ({"type": "container_upload", "file_id": "f"}, ""),
        ({"type": "block_of_tomorrow", "text": "x"}, ""),
        (image({"type": "file", "file_id": "f"}), ""),
        (document({"type": "source_of_tomorrow"}), ""),
        (document(plain("x"), context="of 2020"), ".context"),
        (document(plain("x"), citations={"enabled": True}), ".citations"),
        ({**image(PNG), "transformations": {"oversized_image": "error"}}, ".transformations"),
        (text("x", citations=[{"type": "char_location"}]), ".citations"),
        (document({**plain("x"), "more": 1}), ".source.more"),
    ],
)
def test_what_has_no_place_is_named_by_its_path(block: dict[str, Any], path: str) -> None:
    """API-1"""
    assert lost(user([text("a"), block])) == (f"messages[0].content[1]{path}",)


def test_parts_of_a_result_that_have_no_place_are_named() -> None:
    """API-1"""
    reference = {"type": "tool_reference", "tool_name": "look"}
    content = [text("a"), reference]
    path = "messages[1].content[0].content[1]"
    assert lost(assistant([call("t")]), user([result("t", content)])) == (path,)


@pytest.mark.parametrize(
    ("member", "value", "path"),
    [
        ("container", "c", "container"),
        ("service_tier", "standard_only", "service_tier"),
        ("mcp_servers", [{"type": "url"}], "mcp_servers"),
        ("output_config", {"format": {"type": "xml"}}, "output_config.format"),
        ("thinking", {"type": "disabled", "display": "omitted"}, "thinking.display"),
        ("metadata", {"user_id": "u", "team": 7}, "metadata.team"),
        ("tools", [{"type": "bash_20250124", "name": "bash"}], "tools[0]"),
        (
            "tools",
            [{"name": "a", "input_schema": {}, "defer_loading": True}],
            "tools[0].defer_loading",
        ),
        ("tool_choice", {"type": "tool", "name": "bash"}, "tool_choice"),
        ("tool_choice", {"type": "any"}, "tool_choice"),
        ("tool_choice", {"type": "choice_of_tomorrow"}, "tool_choice"),
    ],
)
def test_members_without_a_place_are_named(member: str, value: Any, path: str) -> None:
    """API-1"""
    assert lost(**{member: value}) == (path,)


def test_what_says_nothing_is_no_loss() -> None:
    """API-1"""
    assert (
        lost(
            user([{**document(plain("x")), "citations": {"enabled": False}, "title": ""}]),
            assistant([{**call("t"), "caller": {"type": "direct"}, "toolset_name": None}]),
            user([result("t", "x", is_error=False)]),
            service_tier="auto",
            container=None,
            stop_sequences=[],
            tools=[{"name": "a", "input_schema": {}, "allowed_callers": ["direct"]}],
        )
        == ()
    )


def test_metadata_that_is_text_is_kept() -> None:
    """API-1"""
    read = read_conversation(body(user("x"), metadata={"user_id": "u", "team": "blue"}))
    assert (read.user, read.metadata, read.lost) == ("u", {"team": "blue"}, ())


@pytest.mark.parametrize(
    ("message", "loc"),
    [
        (user([call("t")]), ("content", 0, "type")),
        (user([{"type": "thinking", "thinking": "x", "signature": ""}]), ("content", 0, "type")),
        (assistant([result("t")]), ("content", 0, "type")),
        ({"role": "system", "content": [image(PNG)]}, ("content", 0, "type")),
        ({"role": "tool", "content": "x"}, ("role",)),
        ({"role": "user"}, ("content",)),
    ],
)
def test_a_block_of_another_role_is_refused(message: dict[str, Any], loc: Any) -> None:
    """API-11"""
    with pytest.raises(RouterError) as refused:
        read_conversation(body(message))
    assert refused.value.loc == ("body", "messages", 0, *loc)


WRONG: list[Any] = [None, True, 7, -1.5, "", "x", [], [[]], [None], {}, {"type": 7}, {"type": "x"}]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_type_at_any_place_is_refused_with_its_place_or_read(wrong: Any) -> None:
    """API-11: no body makes a reader fail otherwise"""
    for loc in places(rich()):
        hostile = with_value(rich(), loc, wrong)
        for read in (read_conversation, _policy):
            refused: RouterError | None = None
            try:
                read(hostile)
            except RouterError as error:
                refused = error
            if refused is not None:
                assert refused.code is Code.INVALID_REQUEST
                assert leads_to(refused.loc, ("body", *loc))


def leads_to(told: tuple[Any, ...], wrong: tuple[Any, ...]) -> bool:
    """Whether one is within the other; of a wrong type, the object that it is the type of."""
    wrong = wrong[:-1] if wrong[-1] == "type" else wrong
    return all(a == b for a, b in zip(told, wrong, strict=False))


def _policy(body: Any) -> object:
    return read_message(read_request(body).body, {})


KEYS = st.sampled_from(
    [
        *("type", "text", "content", "source", "data", "media_type", "url", "thinking", "input"),
        *("title", "tool_use_id", "id", "name", "signature", "is_error", "cache_control"),
    ]
)
TYPES = st.sampled_from(
    [
        *("text", "image", "document", "search_result", "thinking", "redacted_thinking"),
        *("tool_use", "tool_result", "server_tool_use", "base64", "url", "content", "file"),
    ]
)
HOSTILE = st.recursive(
    VALUES | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=10,
)


@settings(max_examples=200)
@given(st.sampled_from(["user", "assistant", "system"]), st.lists(HOSTILE), HOSTILE)
def test_any_body_is_read_or_refused(role: str, content: Any, other: Any) -> None:
    """API-11"""
    hostile = body(user("x"), {"role": role, "content": content}, tools=other, system=other)
    for read in (read_conversation, _policy):
        refused: RouterError | None = None
        try:
            read(hostile)
        except RouterError as error:
            refused = error
        assert refused is None or refused.code is Code.INVALID_REQUEST
