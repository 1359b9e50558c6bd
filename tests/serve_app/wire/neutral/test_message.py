"""SIG-2, API-6: what the policy reads, put together."""

from __future__ import annotations

import pytest

from serve_app.message import Counts, Modality, Role, Turn
from serve_app.wire.neutral.message import (
    Content,
    Said,
    estimate_tokens,
    length,
    message_of,
    message_of_text,
)


def said(role: Role, *texts: str, calls: int = 0, images: tuple[str, ...] = ()) -> Said:
    content = Content(list(texts), list(images), {Modality.TEXT}, calls)
    return Said(role, content)


def test_the_latest_user_message_is_the_request_and_what_came_before_is_earlier() -> None:
    """SIG-2: system text first, wherever it stands"""
    message = message_of(
        [
            said(Role.USER, "first"),
            said(Role.ASSISTANT, "looking", "{}", calls=1),
            said(Role.TOOL, "sunny"),
            said(Role.USER, "and", "then?", images=("https://one.example",)),
            said(Role.SYSTEM, "be kind"),
            said(Role.ASSISTANT, "I"),
        ],
        {"x-team": "blue"},
        metadata={"tier": "gold", "n": 1, "header.x-team": "red"},
        tool_definitions=2,
    )
    assert message.text == "and\nthen?"
    assert message.earlier == (
        Turn(Role.SYSTEM, "be kind"),
        Turn(Role.USER, "first"),
        Turn(Role.ASSISTANT, "looking\n{}"),
        Turn(Role.TOOL, "sunny"),
    )
    assert message.tool_results == ("sunny",)
    assert message.images == ("https://one.example",)
    assert message.counts == Counts(1, 2, 2, 1, 2, 1, 1)
    assert message.metadata == {"tier": "gold", "header.x-team": "blue"}


def test_without_a_user_there_is_no_request() -> None:
    """SIG-2"""
    message = message_of(
        [said(Role.SYSTEM, "be kind"), said(Role.ASSISTANT, "I")],
        {},
        metadata=None,
        tool_definitions=0,
    )
    assert (message.text, message.images) == ("", ())
    assert [turn.text for turn in message.earlier] == ["be kind", "I"]


def test_a_text_is_a_conversation_of_one_user_message() -> None:
    """API-9"""
    message = message_of_text("hello", {"x-a": "b"})
    assert (message.text, message.tokens, message.counts) == ("hello", 2, Counts(user=1))
    assert message.metadata == {"header.x-a": "b"}


@pytest.mark.parametrize(
    ("texts", "tokens"), [([], 0), ([""], 0), (["abc"], 1), (["abcde"], 2), (["é", "é"], 1)]
)
def test_tokens_are_4_bytes_each_rounded_up(texts: list[str], tokens: int) -> None:
    """API-6"""
    assert estimate_tokens(texts) == tokens


def test_what_is_no_list_has_no_length() -> None:
    """SIG-2"""
    assert (length([1, 2]), length(None), length({"a": 1}), length("ab")) == (2, 0, 0, 0)
