"""The turns of a conversation as items of ``input`` (API-1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from serve_app.wire.media import Media, media_of_text
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
from serve_app.wire.responses.sealing import encrypted_of


class WrittenTurns:
    """``lost`` names the parts that no item can say."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.lost: list[str] = []
        self._content: list[dict[str, Any]] = []
        """Of the message that is being written; an item of another kind ends it."""

    def write(self, turns: Iterable[Turn]) -> None:
        for index, turn in enumerate(turns):
            for number, part in enumerate(turn.parts):
                self._write(turn.role, part, f"turns[{index}].parts[{number}]")
            self._end_message(turn.role)

    def _write(self, role: str, part: Part, place: str) -> None:
        match part:
            case Text() if role == "assistant":
                # An item of its own: parts of the assistant need ids, of stored items.
                self._add(role, {"type": "message", "role": role, "content": part.text})
            case Text():
                self._content.append({"type": "input_text", "text": part.text})
            case Image() | File():
                self._media(role, part, place)
            case Refusal():
                self._add(role, _refusal(part, len(self.items)))
            case Reasoning():
                self._reasoning(role, part, place)
            case ToolCall():
                self._add(role, _call(part))
            case ToolResult():
                self._add(role, _result(part))
                if part.failed:
                    self.lost.append(f"{place}.failed")
            case _:
                assert_never(part)

    def _media(self, role: str, part: Image | File, place: str) -> None:
        if role == "user":
            self._content.append(_media(part))
        else:
            self.lost.append(f"{place}.{type(part).__name__.lower()}")

    def _reasoning(self, role: str, part: Reasoning, place: str) -> None:
        """What this provider itself encrypted; it knows no other, and none in plain text."""
        encrypted = encrypted_of(part.hidden, part.origin)
        if encrypted is None:
            self.lost.append(f"{place}.reasoning")
            return
        id = {"id": encrypted.id} if encrypted.id else {}
        summary = [{"type": "summary_text", "text": part.text}] if part.text else []
        item = {"type": "reasoning", **id, "summary": summary}
        self._add(role, {**item, "encrypted_content": encrypted.content})

    def _add(self, role: str, item: dict[str, Any]) -> None:
        self._end_message(role)
        self.items.append(item)

    def _end_message(self, role: str) -> None:
        content, self._content = self._content, []
        if content:
            alone = content[0] if len(content) == 1 else {}
            text = alone.get("text")
            said = content if text is None else text
            self.items.append({"type": "message", "role": role, "content": said})


def _refusal(part: Refusal, index: int) -> dict[str, Any]:
    """The one message of the assistant that no text alone can say, so it has an id."""
    return {
        "type": "message",
        "id": f"msg_{index}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "refusal", "refusal": part.text}],
    }


def _call(part: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": part.id,
        "name": part.name,
        "arguments": part.arguments,
    }


def _result(part: ToolResult) -> dict[str, Any]:
    output: str | list[dict[str, Any]]
    match part.parts:
        case ():
            output = ""
        case (Text(text),):
            output = text
        case parts:
            output = [_output_part(part) for part in parts]
    return {"type": "function_call_output", "call_id": part.call_id, "output": output}


def _output_part(part: Text | Image | File) -> dict[str, Any]:
    return {"type": "input_text", "text": part.text} if isinstance(part, Text) else _media(part)


def _media(part: Image | File) -> dict[str, Any]:
    if isinstance(part, Image):
        url = part.url if part.data is None else Media(part.media_type or "", part.data).url()
        return {"type": "input_image", "image_url": url, "detail": part.detail or "auto"}
    named = {} if part.name is None else {"filename": part.name}
    return {"type": "input_file", **_source(part), **named}


def _source(file: File) -> dict[str, str]:
    """Where the bytes are. Those that stand in the request must have a name."""
    if file.url is not None:
        return {"file_url": file.url}
    if file.id is not None:
        return {"file_id": file.id}
    if file.text is not None:
        return {"filename": "document.txt", "file_data": media_of_text(file.text).url()}
    media = Media(file.media_type or "application/pdf", file.data or "")
    return {"filename": "document.pdf", "file_data": media.url()}
