"""A Chat body as the neutral conversation (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from models.questions.types import JsonValue
from serve_app.wire.chat.members import Members
from serve_app.wire.chat.messages import read_messages
from serve_app.wire.chat.options import read_output, read_sampling, read_thinking
from serve_app.wire.chat.tools import read_tools
from serve_app.wire.envelope import read_envelope
from serve_app.wire.neutral.conversation import Conversation
from serve_app.wire.places import path

_DEFAULTS: Final[Mapping[str, JsonValue]] = {
    "n": 1,
    "logprobs": False,
    "top_logprobs": 0,
    "store": False,
    "service_tier": "auto",
    "modalities": ["text"],
    "verbosity": "medium",
}
"""Values by which a client asks for what it gets anyway."""


def read_conversation(body: JsonValue) -> Conversation:
    """The neutral form of a Chat body.

    What has no place in it stands in ``lost`` by its path: audio, ``n``, ``logprobs``, caching
    hints, tools that are no functions, and whatever the router does not know. ``RouterError``
    (``invalid_request``) names by ``loc`` what is malformed.
    """
    request = read_envelope(body)
    lost: list[str] = []
    members = Members(body, (), lost)
    for name in ("model", "stream"):
        members.take(name)
    messages = read_messages(members.take("messages"), lost)
    tools, tool_choice = read_tools(members)
    conversation = Conversation(
        model=request.model,
        turns=tuple(messages.turns),
        system=tuple(messages.system),
        tools=tools,
        tool_choice=tool_choice,
        output=read_output(members),
        sampling=read_sampling(members),
        thinking=read_thinking(members),
        stream=request.stream,
        include_usage=_read_include_usage(members),
        user=_read_user(members),
        metadata=_read_metadata(members),
    )
    members.close(_DEFAULTS)
    return replace(conversation, lost=tuple(lost))


def _read_include_usage(body: Members) -> bool:
    options = body.members("stream_options")
    if options is None:
        return False
    include_usage = options.flag("include_usage")
    options.close({"include_obfuscation": False})
    return include_usage is True


def _read_user(body: Members) -> str | None:
    """``safety_identifier`` is OpenAI's newer name for ``user``."""
    user, newer = body.string("user"), body.string("safety_identifier")
    if user and newer and user != newer:
        body.lose("safety_identifier")
    return user or newer or None


def _read_metadata(body: Members) -> dict[str, str]:
    """Values that are no strings are lost."""
    metadata = body.mapping("metadata") or {}
    for name, value in metadata.items():
        if not isinstance(value, str):
            body.lost.append(path(("metadata", name)))
    return {name: value for name, value in metadata.items() if isinstance(value, str)}
