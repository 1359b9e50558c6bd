"""The blocks of a message as parts of a turn (API-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, TypeVar

from models.questions.types import JsonValue
from serve_app.wire.anthropic.arguments import to_arguments
from serve_app.wire.anthropic.fields import Fields, Losses
from serve_app.wire.anthropic.origin import read_opaque
from serve_app.wire.neutral.conversation import (
    File,
    Image,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from serve_app.wire.places import Loc, invalid

_PartT = TypeVar("_PartT", bound=Part)

Plain: TypeAlias = Text | Image | File
"""What a result of a tool may hold, too."""

_ROLE_OF: Final[Mapping[str, str]] = {
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_use": "assistant",
    "tool_result": "user",
}
"""Blocks that stand in the turns of one role alone."""


def read_parts(content: JsonValue, role: str, loc: Loc, lost: Losses) -> tuple[Part, ...]:
    """A message's ``content``. A block of a type that is none of a conversation's is lost whole:
    server tools, their results, uploads to a container, types of tomorrow.
    """
    if isinstance(content, str):
        return _of_string(content)
    parts: list[Part] = []
    for block in _blocks(content, loc, lost):
        kind = block.text("type")
        if (role == "system" and kind != "text") or _ROLE_OF.get(kind, role) != role:
            raise invalid(f"no block of a {role} message", (*block.loc, "type"))
        parts += _read(block, _READERS.get(kind))
    return tuple(parts)


def read_plain(content: JsonValue, loc: Loc, lost: Losses) -> tuple[Plain, ...]:
    """The content of a result or of a document."""
    if isinstance(content, str):
        return _of_string(content)
    parts: list[Plain] = []
    for block in _blocks(content, loc, lost):
        parts += _read(block, _PLAIN.get(block.text("type")))
    return tuple(parts)


def _of_string(text: str) -> tuple[Text, ...]:
    return (Text(text),) if text else ()


def _blocks(content: JsonValue, loc: Loc, lost: Losses) -> list[Fields]:
    if not isinstance(content, list):
        raise invalid("content must be a string or a list of blocks", loc)
    return [Fields(block, (*loc, index), lost) for index, block in enumerate(content)]


def _read(
    block: Fields, reader: Callable[[Fields], tuple[_PartT, ...]] | None
) -> tuple[_PartT, ...]:
    if reader is None:
        block.lose()
        return ()
    parts = reader(block)
    block.close()
    return parts


def _text(block: Fields) -> tuple[Text, ...]:
    return _of_string(block.text("text"))


def _image(block: Fields) -> tuple[Image, ...]:
    source = block.child("source")
    match source.text("type"):
        case "base64":
            image = Image(data=source.text("data"), media_type=source.text("media_type"))
        case "url":
            image = _image_at(source.text("url"), source.loc)
        case _:  # of its own provider's file store
            block.lose()
            return ()
    source.close()
    return (image,)


def _image_at(url: str, loc: Loc) -> Image:
    if not url.startswith("data:"):
        return Image(url=url)
    head, _, data = url.removeprefix("data:").partition(",")
    media_type, _, encoding = head.partition(";")
    if encoding != "base64":
        raise invalid("must be base64", (*loc, "url"))
    return Image(data=data, media_type=media_type)


def _document(block: Fields) -> tuple[Plain, ...]:
    name = block.string("title") or None
    source = block.child("source")
    parts: tuple[Plain, ...]
    match source.text("type"):
        case "base64":
            media_type = source.text("media_type")
            parts = (File(data=source.text("data"), media_type=media_type, name=name),)
        case "text":
            source.take("media_type")  # text/plain, which File.text says
            parts = (File(text=source.text("data"), name=name),)
        case "url":
            parts = (File(url=source.text("url"), name=name),)
        case "file":
            parts = (File(id=source.text("file_id"), name=name),)
        case "content":
            parts = _document_of_blocks(source, name)
        case _:
            block.lose()
            return ()
    source.close()
    return parts


def _document_of_blocks(source: Fields, name: str | None) -> tuple[Plain, ...]:
    """Its texts as one, its images after it."""
    parts = read_plain(source.take("content"), (*source.loc, "content"), source.lost)
    texts = [part.text for part in parts if isinstance(part, Text)]
    others = [part for part in parts if not isinstance(part, Text)]
    return (File(text="\n".join(texts), name=name), *others) if texts else tuple(others)


def _search_result(block: Fields) -> tuple[Plain, ...]:
    """As text, which every model reads: title, address, content."""
    head = [block.text("title"), block.text("source")]
    parts = read_plain(block.take("content"), (*block.loc, "content"), block.lost)
    texts = [part.text for part in parts if isinstance(part, Text)]
    others = [part for part in parts if not isinstance(part, Text)]
    return (Text("\n".join([*head, *texts])), *others)


def _thinking(block: Fields) -> tuple[Reasoning, ...]:
    signature, origin = read_opaque(block.string("signature") or "")
    return (Reasoning(block.text("thinking"), signature=signature, origin=origin),)


def _redacted_thinking(block: Fields) -> tuple[Reasoning, ...]:
    hidden, origin = read_opaque(block.text("data"))
    return () if hidden is None else (Reasoning("", hidden=hidden, origin=origin),)


def _tool_use(block: Fields) -> tuple[ToolCall, ...]:
    arguments = to_arguments(block.object("input"))
    return (ToolCall(block.text("id"), block.text("name"), arguments),)


def _tool_result(block: Fields) -> tuple[ToolResult, ...]:
    content = block.take("content")
    parts = read_plain([] if content is None else content, (*block.loc, "content"), block.lost)
    failed = block.flag("is_error") is True
    return (ToolResult(block.text("tool_use_id"), parts, failed),)


_PLAIN: Final[Mapping[str, Callable[[Fields], tuple[Plain, ...]]]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "search_result": _search_result,
}

_READERS: Final[Mapping[str, Callable[[Fields], tuple[Part, ...]]]] = {
    **_PLAIN,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}
