"""One message of Messages as the turns that the policy reads (SIG-2).

Nothing inside a block is refused, and text is read wherever a model would read it: a guard that
skipped what it does not know could be passed with a word of tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.message import Modality, Role
from serve_app.wire.body import json_bytes
from serve_app.wire.media import readable_text
from serve_app.wire.neutral.message import Content, Said
from serve_app.wire.places import invalid

ROLES: Final[Mapping[str, Role]] = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
}

_KINDS: Final[Mapping[str, Modality]] = {
    "image": Modality.IMAGE,
    "document": Modality.FILE,
    "container_upload": Modality.FILE,
}
"""Block type -> modality; every other block is text."""

_TEXTS: Final = ("title", "context", "text", "thinking", "stdout", "stderr")
"""Members that a model reads as text, in any block."""


def read_turns(item: JsonValue, index: int) -> list[Said]:
    """The results of tools as turns of their own: before what a user says, after what an assistant
    says (of tools that its provider runs). ``RouterError`` names the field that is wrong.
    """
    loc = ("messages", index)
    if not isinstance(item, dict):
        raise invalid("a message must be an object", loc)
    role = ROLES.get(item["role"]) if isinstance(item.get("role"), str) else None
    if role is None:
        raise invalid(f"role must be one of: {', '.join(ROLES)}", (*loc, "role"))
    own, results = read_blocks(item.get("content"), (*loc, "content"))
    tools = [Said(Role.TOOL, result) for result in results]
    if role is Role.ASSISTANT:
        return [Said(role, own), *tools]
    silent = not own.text.strip() and own.modalities <= {Modality.TEXT}
    return tools if tools and silent else [*tools, Said(role, own)]


def read_blocks(given: JsonValue, loc: tuple[str | int, ...]) -> tuple[Content, list[Content]]:
    """A message's own content, and that of each result in it."""
    own, results = Content(), list[Content]()
    if isinstance(given, str):
        _read(own, given)
        return own, results
    if not isinstance(given, list):
        raise invalid("content must be a string or a list of blocks", loc)
    for index, block in enumerate(given):
        if not isinstance(block, dict):
            raise invalid("a block must be an object", (*loc, index))
        target = own
        if str(block.get("type")).endswith("tool_result"):
            target = Content()
            results.append(target)
        _read(target, block)
    return own, results


def _read(content: Content, value: JsonValue) -> None:
    if isinstance(value, str):
        content.add_text(value)
    elif isinstance(value, list):
        for member in value:
            _read(content, member)
    elif isinstance(value, dict):
        _read_block(content, value)


def _read_block(content: Content, block: Mapping[str, Any]) -> None:
    kind = block.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind in _KINDS:
        content.modalities.add(_KINDS[kind])
    for name in _TEXTS:
        if isinstance(block.get(name), str):
            _read(content, block[name])
    if kind.endswith("tool_use"):
        content.tool_calls += 1
        if "input" in block:
            content.texts.append(json_bytes(block["input"]).decode())
    if kind == "image":
        if url := _image_url(block.get("source")):
            content.image_urls.append(url)
    else:
        _read_source(content, block.get("source"))
    _read(content, block.get("content"))


def _read_source(content: Content, source: JsonValue) -> None:
    """A document's; or that of a search result, which is an address."""
    if not isinstance(source, dict):
        _read(content, source)
        return
    data = source.get("data")
    if source.get("type") == "base64":
        data = _decoded(data, source.get("media_type"))
    if isinstance(data, str) and data:
        _read(content, data)
    _read(content, source.get("content"))


def _image_url(source: JsonValue) -> str:
    if not isinstance(source, dict):
        return ""
    url, data, media_type = (source.get(name) for name in ("url", "data", "media_type"))
    if isinstance(url, str):
        return url
    if isinstance(data, str) and isinstance(media_type, str):
        return f"data:{media_type};base64,{data}"
    return ""


def _decoded(data: JsonValue, media_type: JsonValue) -> str:
    if not isinstance(data, str) or not isinstance(media_type, str):
        return ""
    return readable_text(f"data:{media_type};base64,{data}")
