"""The items of ``input`` as texts, images and kinds of parts, for rules (SIG-2).

Rules read what a model would: of an item or a part that this module does not know, every string
that is no name of something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.message import Modality, Role
from serve_app.wire.body import json_bytes
from serve_app.wire.media import readable_text
from serve_app.wire.neutral.message import Content, Said
from serve_app.wire.places import Loc, invalid

ROLES: Final[Mapping[str, Role]] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}

CALLS: Final[Mapping[str, str]] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Calls of the client's own tools -> the member that says what they are called with."""

OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})

_TEXT_PARTS: Final = frozenset(
    {"input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"}
)
_MEDIA_PARTS: Final[Mapping[str, Modality]] = {
    "input_image": Modality.IMAGE,
    "computer_screenshot": Modality.IMAGE,
    "input_audio": Modality.AUDIO,
    "input_video": Modality.VIDEO,
    "input_file": Modality.FILE,
}
_RESULTS: Final = ("output", "outputs", "result", "results")
"""What a provider's own tool answered, in the item of its call."""

_OF_TOOLS: Final = frozenset({"mcp_list_tools", "mcp_approval_response", *OUTPUTS})
_OF_SYSTEM: Final = frozenset({"additional_tools", "configuration_update"})

_OPAQUE: Final = frozenset(
    {
        *("id", "type", "role", "status", "phase", "detail", "encrypted_content", "fingerprint"),
        *("image_url", "file_data", "file_url", "data", "filename"),
    }
)


def read_items(given: JsonValue) -> list[Said]:
    """``input``: a text of the user, or items; neighbours of the assistant are one message."""
    if given is None:
        return []
    if isinstance(given, str):
        return [Said(Role.USER, content_of(given, ("input",)))]
    read: list[Said] = []
    for index, item in enumerate(given):
        for role, content in _read_item(item, ("input", index)):
            if role is Role.ASSISTANT and read and read[-1][0] is role:
                _join(read[-1][1], content)
            else:
                read.append(Said(role, content))
    return read


def content_of(given: JsonValue, loc: Loc) -> Content:
    """A text, or a list of parts."""
    content = Content()
    if isinstance(given, str):
        content.add_text(given)
    elif isinstance(given, list):
        for index, part in enumerate(given):
            _read_part(content, part, (*loc, index))
    else:
        raise invalid("must be a string or a list of parts", loc)
    return content


def gathered(value: JsonValue) -> Content:
    """Every text of something whose form is not known."""
    content = Content()
    for text in _strings(value):
        content.add_text(text)
    return content


def _read_item(item: JsonValue, loc: Loc) -> Iterator[Said]:
    if not isinstance(item, dict):
        raise invalid("an item must be an object", loc)
    kind = item.get("type")
    if kind is not None and not isinstance(kind, str):
        raise invalid("type must be a string", (*loc, "type"))
    if kind == "message" or (kind is None and "role" in item):
        yield Said(_role(item, loc), content_of(item.get("content"), (*loc, "content")))
    elif kind is None:
        if not isinstance(item.get("id"), str):  # a reference need not name its type
            raise invalid("an item must have a type or a role", loc)
    elif kind in CALLS:
        yield Said(Role.ASSISTANT, _call(item.get(CALLS[kind])))
    elif kind in OUTPUTS:
        yield Said(Role.TOOL, _output(item.get("output"), (*loc, "output")))
    elif kind != "item_reference":
        yield from _read_other(kind, item)


def _role(item: Mapping[str, Any], loc: Loc) -> Role:
    given = item.get("role")
    role = ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise invalid(f"role must be one of: {', '.join(ROLES)}", (*loc, "role"))
    return role


def _call(given: JsonValue) -> Content:
    content = Content(tool_calls=1)
    if given is not None:
        content.texts.append(given if isinstance(given, str) else json_bytes(given).decode())
    return content


def _output(given: JsonValue, loc: Loc) -> Content:
    return content_of(given, loc) if isinstance(given, str | list) else gathered(given)


def _read_other(kind: str, item: Mapping[str, Any]) -> Iterator[Said]:
    """Reasoning, and a provider's own tools: their calls, which may carry their results."""
    if kind.endswith("_output") or kind in _OF_TOOLS:
        yield Said(Role.TOOL, gathered(item))
        return
    results = () if kind == "image_generation_call" else _RESULTS  # of which an image is
    said = gathered({k: v for k, v in item.items() if k not in _RESULTS})
    said.tool_calls = int(kind.endswith("_call"))
    if said.texts or said.tool_calls:
        yield Said(Role.SYSTEM if kind in _OF_SYSTEM else Role.ASSISTANT, said)
    answered = gathered([item.get(name) for name in results])
    if answered.texts:
        yield Said(Role.TOOL, answered)


def _read_part(content: Content, part: JsonValue, loc: Loc) -> None:
    if not isinstance(part, dict):
        raise invalid("a part must be an object", loc)
    kind = part.get("type")
    if isinstance(kind, str) and kind in _MEDIA_PARTS:
        content.modalities.add(_MEDIA_PARTS[kind])
        _read_media(content, part)
    elif isinstance(kind, str) and kind in _TEXT_PARTS:
        texts = (part.get("text"), part.get("refusal"))
        for text in texts:
            if isinstance(text, str):
                content.add_text(text)
    else:
        for text in _strings(part):
            content.add_text(text)


def _read_media(content: Content, part: Mapping[str, Any]) -> None:
    url = part.get("image_url")
    url = url.get("url") if isinstance(url, dict) else url
    if isinstance(url, str) and url:
        content.image_urls.append(url)
    data = part.get("file_data")
    texts = [readable_text(data)] if isinstance(data, str) else []
    for text in (*texts, part.get("text"), part.get("content")):
        if isinstance(text, str) and text:
            content.add_text(text)


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name not in _OPAQUE and not name.endswith("_id"):
                yield from _strings(member)


def _join(content: Content, more: Content) -> None:
    content.texts += more.texts
    content.image_urls += more.image_urls
    content.modalities |= more.modalities
    content.tool_calls += more.tool_calls
