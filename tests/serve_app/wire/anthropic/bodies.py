"""One body that has everything of the format which a conversation carries."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
CACHED = {"cache_control": {"type": "ephemeral"}}
PNG = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def image(source: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image", "source": source}


def document(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "document", "source": source, **more}


def plain(data: str) -> dict[str, Any]:
    return {"type": "text", "media_type": "text/plain", "data": data}


def encoded(data: str, media_type: str = "text/plain") -> dict[str, Any]:
    coded = base64.b64encode(data.encode()).decode()
    return {"type": "base64", "media_type": media_type, "data": coded}


def call(id: str, name: str = "look", **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Any = None, **more: Any) -> dict[str, Any]:
    given = {} if content is None else {"content": content}
    return {"type": "tool_result", "tool_use_id": id, **given, **more}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "auto", "max_tokens": 4096, "messages": list(messages), **more}


def rich() -> dict[str, Any]:
    """No member is lost of it."""
    return body(
        user("Hello."),
        assistant(
            [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                text("Looking."),
                call("t1", city="Bern"),
                call("t2"),
            ]
        ),
        user(
            [
                result("t1", "rain"),
                result("t2", [text("sun"), image(PNG), document(plain("page"))], is_error=True),
                text("And these?"),
                image({"type": "url", "url": "https://example.org/a.png"}),
                document(PDF, title="report"),
                document(plain("notes"), title="notes"),
                document({"type": "url", "url": "https://example.org/a.pdf"}),
                document({"type": "file", "file_id": "file_1"}),
                document({"type": "content", "content": [text("one"), text("two"), image(PNG)]}),
                document({"type": "content", "content": "three"}),
                {
                    "type": "search_result",
                    "title": "Title",
                    "source": "https://example.org",
                    "content": [text("found")],
                },
            ]
        ),
        {"role": "system", "content": "Be brief."},
        user([text("Go on.")]),
        system=[text("Be kind."), text("Be exact.")],
        tools=[
            {"name": "look", "description": "Weather.", "input_schema": SCHEMA, "strict": True},
            {"type": "custom", "name": "now", "input_schema": {"type": "object"}},
        ],
        tool_choice={"type": "tool", "name": "look", "disable_parallel_tool_use": True},
        stop_sequences=["END", "STOP"],
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        thinking={"type": "enabled", "budget_tokens": 2048},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        metadata={"user_id": "u1"},
        stream=True,
    )


def places(value: Any, loc: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a body, its own first."""
    yield loc
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*loc, name))


def with_value(value: Any, loc: tuple[Any, ...], new: Any) -> Any:
    """A copy that has ``new`` at ``loc``."""
    if not loc:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[loc[0]] = with_value(value[loc[0]], loc[1:], new)
    return copy
