"""API-9: which format a body is of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from serve_app.errors import WireFormat
from serve_app.wire.telling import format_of
from tests.doubles.json_values import JSON

HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("body", "headers", "format"),
    [
        ({"messages": HELLO}, {}, WireFormat.CHAT),
        ({"messages": HELLO, "max_tokens": 5}, {}, WireFormat.CHAT),
        ({"messages": HELLO, "tools": [{"type": "function"}]}, {}, WireFormat.CHAT),
        ({"messages": HELLO, "input": "x"}, {}, WireFormat.CHAT),
        ({"input": "hello"}, {}, WireFormat.RESPONSES),
        ({"input": "hello"}, {"anthropic-version": "1"}, WireFormat.RESPONSES),
        ({"prompt": {"id": "p"}}, {}, WireFormat.RESPONSES),
        ({"messages": HELLO}, {"anthropic-version": "1"}, WireFormat.ANTHROPIC),
        ({"messages": HELLO, "system": "x"}, {}, WireFormat.ANTHROPIC),
        ({"messages": HELLO, "tools": [{"input_schema": {}}]}, {}, WireFormat.ANTHROPIC),
        ({"messages": [{"content": [{"type": "tool_use"}]}]}, {}, WireFormat.ANTHROPIC),
        ({"messages": [{"content": [{"type": "image_url"}]}]}, {}, WireFormat.CHAT),
        ({}, {}, WireFormat.CHAT),
        ([], {}, WireFormat.CHAT),
    ],
)
def test_a_body_is_known_by_its_words(
    body: Any, headers: dict[str, str], format: WireFormat
) -> None:
    """API-9"""
    assert format_of(body, headers) is format


@given(JSON)
def test_any_body_is_of_some_format(value: Any) -> None:
    """API-9"""
    for body in (value, {"messages": value, "tools": value}, {"messages": [{"content": value}]}):
        assert format_of(body, {}) in WireFormat
