"""Turns of a conversation as messages of a provider of Messages (API-1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, TypeAlias
from zlib import crc32

from serve_app.errors import WireFormat
from serve_app.wire.anthropic.arguments import to_input
from serve_app.wire.media import Media
from serve_app.wire.neutral.conversation import (
    File,
    Image,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

Block: TypeAlias = dict[str, Any]

OPENING: Final = "."
"""What a user says first where the conversation begins with the assistant, or with nobody:
Messages begin with a user's, and a text is not blank."""

_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_READABLE: Final = ("text/", "application/json")
_BAD_IN_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")


def write_turns(turns: Iterable[Turn], lost: list[str]) -> list[dict[str, Any]]:
    """Messages of alternating roles, the first a user's. Turns of the system are not among them.

    ``lost`` takes the paths, from ``turns[0].parts[0]``, of what a message cannot carry.
    """
    messages: list[dict[str, Any]] = []
    for index, turn in enumerate(turns):
        if turn.role == "system":
            continue
        blocks: list[Block] = []
        for at, part in enumerate(turn.parts):
            blocks += _write(part, turn.role, f"turns[{index}].parts[{at}]", lost)
        if messages and messages[-1]["role"] == turn.role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": turn.role, "content": blocks})
    for message in messages:
        # Results are only accepted before all else that a user says.
        message["content"].sort(key=lambda block: block["type"] != "tool_result")
    return _finished(messages)


def write_text(text: str) -> list[Block]:
    """No block for a blank text: Messages refuses it."""
    return [{"type": "text", "text": text}] if text.strip() else []


def tool_id(id: str) -> str:
    """``id`` where Messages accepts it, else one made of it that is as unique."""
    clean = _BAD_IN_ID.sub("_", id)
    return id if id and clean == id else f"{clean}_{crc32(id.encode('utf-8', 'replace')):08x}"


def _finished(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not messages or messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": write_text(OPENING)})
    last = messages[-1]
    if last["role"] == "assistant" and last["content"][-1]["type"] == "text":
        # The answer goes on from it, and Messages refuses one that ends in blanks.
        text = last["content"][-1]
        text["text"] = text["text"].rstrip()
    return messages


def _write(part: Part, role: str, path: str, lost: list[str]) -> list[Block]:
    match part:
        case Text(text) | Refusal(text):
            return write_text(text)
        case ToolCall(id, name, arguments):
            call = {"type": "tool_use", "id": tool_id(id), "name": name}
            return [{**call, "input": to_input(arguments)}]
        case ToolResult():
            return [_result(part, path, lost)]
        case Reasoning():
            return _reasoning(part, path, lost)
        case Image():
            return _image(part, path, lost) if role == "user" else _lose(path, lost)
        case File():
            return _file(part, path, lost) if role == "user" else _lose(path, lost)


def _lose(path: str, lost: list[str]) -> list[Block]:
    lost.append(path)
    return []


def _result(result: ToolResult, path: str, lost: list[str]) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": tool_id(result.call_id)}
    if len(result.parts) == 1 and isinstance(result.parts[0], Text):
        block["content"] = result.parts[0].text
    elif result.parts:
        content: list[Block] = []
        for at, part in enumerate(result.parts):
            content += _write(part, "user", f"{path}.parts[{at}]", lost)
        block["content"] = content
    if result.failed:
        block["is_error"] = True
    return block


def _reasoning(reasoning: Reasoning, path: str, lost: list[str]) -> list[Block]:
    """Only what a provider of Messages signed or encrypted: it refuses other thinking."""
    blocks: list[Block] = []
    if reasoning.origin is not WireFormat.ANTHROPIC:
        return _lose(path, lost) if reasoning.text or reasoning.hidden else []
    if reasoning.signature is not None:
        signed = {"thinking": reasoning.text, "signature": reasoning.signature}
        blocks.append({"type": "thinking", **signed})
    elif reasoning.text:
        lost.append(path)
    if reasoning.hidden is not None:
        blocks.append({"type": "redacted_thinking", "data": reasoning.hidden})
    return blocks


def _image(image: Image, path: str, lost: list[str]) -> list[Block]:
    if image.detail not in (None, "auto"):
        lost.append(f"{path}.detail")
    if image.url is not None:
        return [{"type": "image", "source": {"type": "url", "url": image.url}}]
    if image.data is None or image.media_type not in _IMAGES:
        return _lose(path, lost)
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return [{"type": "image", "source": source}]


def _file(file: File, path: str, lost: list[str]) -> list[Block]:
    source = _source(file)
    if source is None:
        return _lose(path, lost)
    block = {"type": "document", "source": source}
    return [{**block, "title": file.name} if file.name else block]


def _source(file: File) -> Block | None:
    """Messages takes PDFs and plain text; texts of other types are text to it."""
    if file.url is not None:
        return {"type": "url", "url": file.url}
    text = file.text
    if file.data is not None and file.media_type is not None:
        if file.media_type == "application/pdf":
            return {"type": "base64", "media_type": file.media_type, "data": file.data}
        if file.media_type.startswith(_READABLE):
            text = Media(file.media_type, file.data).text()
    if text is None or not text.strip():
        return None
    return {"type": "text", "media_type": "text/plain", "data": text}
