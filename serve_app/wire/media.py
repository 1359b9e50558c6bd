"""Files and images that stand in a body as base64 (API-1)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

_TEXT: Final = ("text/", "application/json", "application/xml", "application/yaml")
_TEXT_SUFFIXES: Final = ("+json", "+xml", "+yaml", "javascript", "typescript", "-sh", "-yaml")
_NO_TEXT: Final = ("image/", "audio/", "video/", "application/pdf", "application/zip")
_PDF: Final = "JVBERi0"  # %PDF- in base64


@dataclass(frozen=True, slots=True)
class Media:
    """``data``: base64. ``media_type``: in lower case, without parameters."""

    media_type: str
    data: str

    @property
    def is_text(self) -> bool:
        return self.media_type.startswith(_TEXT) or self.media_type.endswith(_TEXT_SUFFIXES)

    def text(self) -> str | None:
        """What the bytes say, where they are UTF-8. Base64 may be broken into lines."""
        try:
            return base64.b64decode("".join(self.data.split()), validate=True).decode()
        except (binascii.Error, ValueError):
            return None

    def url(self) -> str:
        return f"data:{self.media_type};base64,{self.data}"


def is_data_url(url: str) -> bool:
    return url[:5].lower() == "data:"


def parse_data_url(url: str) -> Media | None:
    """``None`` of what is no data URL in base64."""
    head, comma, data = url.partition(",")
    head = head.lower()
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return Media(head[5:].partition(";")[0], data)


def parse_file_data(file_data: str) -> Media | None:
    """A data URL, or base64 alone, which does not say what it is of."""
    if is_data_url(file_data):
        return parse_data_url(file_data)
    if file_data.startswith(_PDF):
        return Media("application/pdf", file_data)
    bare = Media("text/plain", file_data)
    text = bare.text()
    binary = text is None or "\0" in text
    return Media("application/octet-stream", file_data) if binary else bare


def media_of_text(text: str) -> Media:
    return Media("text/plain", base64.b64encode(text.encode("utf-8", "replace")).decode())


def readable_text(file_data: str) -> str:
    """The text of a file for rules, ``""`` of one that is none.

    Decoded as leniently as a provider might: a byte or a blank out of place hides no text.
    """
    if not is_data_url(file_data):
        return _lenient(Media("", file_data))
    media = parse_data_url(file_data)
    if media is None:
        return unquote(file_data.partition(",")[2])
    return "" if media.media_type.startswith(_NO_TEXT) else _lenient(media)


def _lenient(media: Media) -> str:
    try:
        data = base64.b64decode(media.data.encode("ascii", "ignore") + b"==")
    except binascii.Error:
        return ""
    if media.is_text:
        return data.decode("utf-8", "replace")
    return "" if b"\0" in data else _strict(data)


def _strict(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""
