"""The parts of a message or of a tool's output in the neutral form (API-1)."""

from __future__ import annotations

from typing import Final

from models.questions.types import JsonValue
from serve_app.wire.media import is_data_url, parse_data_url, parse_file_data
from serve_app.wire.neutral.conversation import File, Image, Part, Refusal, Text
from serve_app.wire.responses.fields import Defaults, Fields

TEXTS: Final = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})

_FILE_DEFAULTS: Final[Defaults] = {"detail": ("auto",)}


def read_parts(fields: Fields, name: str, lost: list[str]) -> list[Part]:
    """A text or a list of parts; what no other format has is named in ``lost``."""
    given: JsonValue = fields.take(name)
    if isinstance(given, str):
        return [Text(given)]
    if not isinstance(given, list):
        raise fields.wrong(name, "must be a string or a list of parts")
    parts: list[Part] = []
    for part in fields.objects(name):
        parts += _read_part(part, lost)
    return parts


def _read_part(part: Fields, lost: list[str]) -> list[Part]:
    kind = part.required("type")
    if kind in TEXTS:
        read: list[Part] = [Text(part.required("text"))]
    elif kind == "refusal":
        read = [Refusal(part.required("refusal"))]
    elif kind == "input_image":
        read = _image(part)
    elif kind == "input_file":
        read = [_file(part)]
        lost += part.rest(_FILE_DEFAULTS)
        return read
    else:
        lost.append(part.place(kind))
        return []
    lost += part.rest()
    return read


def _image(part: Fields) -> list[Part]:
    """None of a file at the provider: no other format names an image so, and ``rest`` tells."""
    url, detail = part.string("image_url"), part.string("detail")
    if not url:
        if not part.has("file_id"):
            raise part.wrong("image_url", "is missing")
        return []
    if not is_data_url(url):
        return [Image(url=url, detail=detail)]
    media = parse_data_url(url)
    if media is None:
        raise part.wrong("image_url", "must be base64 where it is a data URL")
    return [Image(data=media.data, media_type=media.media_type, detail=detail)]


def _file(part: Fields) -> File:
    """Of several sources the first counts, and ``rest`` names the others."""
    name = part.string("filename")
    if data := part.string("file_data"):
        return _file_of_data(part, data, name)
    if url := part.string("file_url"):
        return File(url=url, name=name)
    if id := part.string("file_id"):
        return File(id=id, name=name)
    raise part.wrong("file_data", "is missing")


def _file_of_data(part: Fields, data: str, name: str | None) -> File:
    media = parse_file_data(data)
    if media is None:
        raise part.wrong("file_data", "must be base64")
    text = media.text() if media.is_text else None
    if text is not None:
        return File(text=text, name=name)
    return File(data=media.data, media_type=media.media_type, name=name)
