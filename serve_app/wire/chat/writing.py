"""The neutral conversation as a body for a provider that speaks Chat (API-1)."""

from __future__ import annotations

from typing import Any

from serve_app.wire.chat.layout import write_messages
from serve_app.wire.chat.options import write_output, write_sampling, write_thinking
from serve_app.wire.chat.tools import write_tools
from serve_app.wire.neutral.conversation import Conversation, Written


def write_request(conversation: Conversation, model: str) -> Written:
    """A Chat body that asks ``model``, the provider's own name, for the conversation's answer.

    A stream always ends with its usage (API-3). Lost are ``top_k``, files by URL or by another
    provider's id, images outside the user's turns, and signed or encrypted thoughts.
    """
    messages, lost = write_messages(conversation)
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        **write_tools(conversation.tools, conversation.tool_choice),
        **write_output(conversation.output),
        **write_sampling(conversation.sampling),
        **write_thinking(conversation.thinking),
    }
    if conversation.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if conversation.user is not None:
        body["user"] = conversation.user
    if conversation.metadata:
        body["metadata"] = dict(conversation.metadata)
    if conversation.sampling.top_k is not None:
        lost.append("top_k")
    return Written(body, (*conversation.lost, *lost))
