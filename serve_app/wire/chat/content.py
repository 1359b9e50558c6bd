"""One Chat message as text, images and kinds of parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.message import Modality
from serve_app.wire.body import json_bytes
from serve_app.wire.media import readable_text
from serve_app.wire.neutral.message import Content
from serve_app.wire.places import invalid

_KINDS: Final[Mapping[str, Modality]] = {
    "image_url": Modality.IMAGE,
    "image": Modality.IMAGE,
    "input_audio": Modality.AUDIO,
    "audio_url": Modality.AUDIO,
    "video_url": Modality.VIDEO,
    "file": Modality.FILE,
    "document": Modality.FILE,
}
"""Part type -> modality; every other part is text."""


def read_content(message: Mapping[str, Any], loc: tuple[str | int, ...]) -> Content:
    """Reads ``content``, ``refusal``, ``tool_calls`` and ``function_call`` of a message."""
    content = Content()
    given = message.get("content")
    if isinstance(given, str):
        content.add_text(given)
    elif isinstance(given, list):
        for index, part in enumerate(given):
            _read_part(content, part, (*loc, "content", index))
    elif given is not None:
        raise invalid("content must be a string, null or a list of parts", (*loc, "content"))
    if isinstance(message.get("refusal"), str):
        content.texts.append(message["refusal"])
    _read_tool_calls(content, message)
    return content


def _read_part(content: Content, part: JsonValue, loc: tuple[str | int, ...]) -> None:
    if not isinstance(part, dict):
        raise invalid("a part must be an object", loc)
    kind = part.get("type")
    modality = _KINDS.get(kind, Modality.TEXT) if isinstance(kind, str) else Modality.TEXT
    body = part.get(kind) if isinstance(kind, str) else None
    if modality is Modality.IMAGE and (url := _url(body)):
        content.image_urls.append(url)
    for text in (part.get("text"), part.get("refusal"), *_texts_of_file(body, modality)):
        if isinstance(text, str):
            content.add_text(text)
    if modality is not Modality.TEXT:
        content.modalities.add(modality)


def _url(body: JsonValue) -> str:
    url = body.get("url") if isinstance(body, dict) else body
    return url if isinstance(url, str) else ""


def _texts_of_file(body: JsonValue, modality: Modality) -> tuple[str, ...]:
    """What a file or document part says in plain text, so that rules read it too."""
    if modality is not Modality.FILE or not isinstance(body, dict):
        return ()
    found = [body[key] for key in ("text", "content") if isinstance(body.get(key), str)]
    data = body.get("file_data")
    if isinstance(data, str) and (decoded := readable_text(data)):
        found.append(decoded)
    return tuple(found)


def _read_tool_calls(content: Content, message: Mapping[str, Any]) -> None:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        content.tool_calls += 1
        if isinstance(call, dict):
            _add_arguments(content, call.get("function"), "arguments")
            _add_arguments(content, call.get("custom"), "input")
    if isinstance(message.get("function_call"), dict):
        content.tool_calls += 1
        _add_arguments(content, message["function_call"], "arguments")


def _add_arguments(content: Content, call: JsonValue, key: str) -> None:
    arguments = call.get(key) if isinstance(call, dict) else None
    if arguments is None:
        return
    text = arguments if isinstance(arguments, str) else json_bytes(arguments).decode()
    content.texts.append(text)
