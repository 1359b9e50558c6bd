"""API-1: what any format says, any other can be told."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError, WireFormat
from serve_app.wire.body import json_bytes
from serve_app.wire.formats import FORMATS
from tests.doubles.format_clients import TOOL
from tests.doubles.json_values import JSON, places

PIXEL = "data:image/png;base64,iVBO"
BODIES: dict[WireFormat, dict[str, Any]] = {
    WireFormat.CHAT: {
        "model": "auto",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": PIXEL}},
                    {"type": "file", "file": {"file_data": "JVBERi0", "filename": "a.pdf"}},
                ],
            },
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"city":"Bern"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
            {"role": "user", "content": "and?"},
        ],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": TOOL}}],
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
        "reasoning_effort": "low",
        "max_tokens": 5000,
        "temperature": 0.5,
        "stop": ["END"],
        "stream": True,
        "metadata": {"a": "b"},
        "user": "u",
    },
    WireFormat.RESPONSES: {
        "model": "auto",
        "instructions": "Be kind.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "image_url": PIXEL, "detail": "auto"},
                    {"type": "input_file", "file_data": "JVBERi0", "filename": "a.pdf"},
                ],
            },
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "look",
                "arguments": '{"city":"Bern"}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
            {"role": "user", "content": "and?"},
        ],
        "tools": [{"type": "function", "name": "look", "parameters": TOOL, "strict": False}],
        "tool_choice": {"type": "function", "name": "look"},
        "text": {"format": {"type": "json_schema", "name": "a", "schema": TOOL}},
        "reasoning": {"effort": "low"},
        "max_output_tokens": 5000,
        "temperature": 0.5,
        "stream": True,
    },
    WireFormat.ANTHROPIC: {
        "model": "auto",
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image", "source": {"type": "url", "url": "https://one.example"}},
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    {"type": "tool_use", "id": "call_1", "name": "look", "input": {"city": "B"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"},
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
        "tools": [{"name": "look", "input_schema": TOOL}],
        "tool_choice": {"type": "any"},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "max_tokens": 5000,
        "top_k": 3,
        "stop_sequences": ["END"],
        "stream": True,
        "metadata": {"user_id": "u"},
    },
}


def told(client: WireFormat, provider: WireFormat, body: Any) -> Any:
    """The body as a provider gets it, which its own format's reader accepts."""
    conversation = FORMATS[client].read_conversation(body)
    written = FORMATS[provider].write_request(conversation, "theirs")
    sent = orjson.loads(json_bytes(written.body))
    request = FORMATS[provider].read_request(sent)
    assert (request.model, request.stream) == ("theirs", conversation.stream)
    FORMATS[provider].read_message(request.body, {})
    return FORMATS[provider].read_conversation(sent)


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("client", FORMATS)
def test_the_policy_reads_the_same_of_what_a_provider_is_told(
    client: WireFormat, provider: WireFormat
) -> None:
    """API-1, SIG-2: text, roles, arguments and results"""
    given = FORMATS[client].read_message(BODIES[client], {})
    conversation = FORMATS[client].read_conversation(BODIES[client])
    written = FORMATS[provider].write_request(conversation, "theirs").body
    read = FORMATS[provider].read_message(written, {})
    assert (
        (read.text, read.tool_results) == (given.text, given.tool_results) == ("and?", ("sunny",))
    )
    assert read.counts.tool_definitions == read.counts.tool_calls == 1
    spoken = [text for turn in read.earlier for text in turn.text.split("\n") if text]
    for text in ("Be kind.", "look", '"city"'):
        assert any(text in line for line in spoken)


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("client", FORMATS)
@given(data=st.data())
def test_a_body_with_a_member_that_is_anything_is_told_or_refused(
    client: WireFormat, provider: WireFormat, data: st.DataObject
) -> None:
    """API-11, S1-9: never a fault of the router's own, nor of the provider's"""
    body = deepcopy(BODIES[client])
    *way, last = data.draw(st.sampled_from(places(body)[1:]))
    target: Any = body
    for step in way:
        target = target[step]
    if data.draw(st.booleans()):
        target[last] = data.draw(JSON)
    else:
        del target[last]
    try:
        told(client, provider, body)
    except RouterError as error:
        refused = error
    else:
        return
    assert refused.code is Code.INVALID_REQUEST
    assert refused.loc[0] == "body"
    with pytest.raises(RouterError):  # the client's own body, not what was made of it
        FORMATS[client].read_conversation(body)
