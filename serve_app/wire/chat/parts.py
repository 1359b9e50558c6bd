"""Parts of a message's content, read and written (API-1)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Container
from mimetypes import guess_type
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from models.questions.types import JsonValue
from serve_app.wire.chat.members import Members
from serve_app.wire.media import is_data_url
from serve_app.wire.neutral.conversation import File, Image, Refusal, Text
from serve_app.wire.places import Loc, invalid, path

SYSTEM: Final = frozenset({"text"})
ASSISTANT: Final = frozenset({"text", "refusal"})
USER: Final = frozenset({"text", "image_url", "file"})
"""Types of parts that a role's content may have. Tool messages have the user's: servers beside
OpenAI's let a tool answer with images.
"""

_PDF: Final = "application/pdf"


def read_parts(
    content: JsonValue, loc: Loc, lost: list[str], types: Container[str]
) -> list[Text | Image | File | Refusal]:
    """``content`` as a string, ``null`` or a list. Parts of a type that is not in ``types`` are
    lost; an empty text is no part.

    ``RouterError``: it is none of these, or a part is malformed.
    """
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    if not isinstance(content, list):
        raise invalid(f"{path(loc)} must be a string, null or a list of parts", loc)
    read = (_read(part, (*loc, index), lost, types) for index, part in enumerate(content))
    return [part for part in read if part is not None]


def _read(
    given: JsonValue, loc: Loc, lost: list[str], types: Container[str]
) -> Text | Image | File | Refusal | None:
    part = Members(given, loc, lost)
    kind = part.name("type")
    if kind not in types:
        lost.append(path((*loc, kind) if kind in given else loc))
        return None
    read = _of_type(part, kind)
    part.close()
    return read


def _of_type(part: Members, kind: str) -> Text | Image | File | Refusal | None:
    match kind:
        case "image_url":
            return _image(part)
        case "file":
            return _file(part)
    text = part.string(kind)
    if text is None:
        raise part.wrong(kind, "must be a string")
    if not text:
        return None
    return Refusal(text) if kind == "refusal" else Text(text)


def _image(part: Members) -> Image:
    given = part.take("image_url")
    # The URL alone, without its object, is what many clients write.
    given = {"url": given} if isinstance(given, str) else given
    image = Members(given, (*part.loc, "image_url"), part.lost)
    url, detail = image.name("url"), image.string("detail") or None
    image.close()
    if not is_data_url(url):
        return Image(url=url, detail=detail)
    media_type, data = read_data_url(url, (*image.loc, "url"))
    return Image(data=data, media_type=media_type, detail=detail)


def _file(part: Members) -> File:
    """Data are a data URL, or bare base64 whose type its name tells."""
    file = part.members("file")
    if file is None:
        raise part.wrong("file", "must be an object")
    data, name, id_ = file.string("file_data"), file.string("filename"), file.string("file_id")
    if not data and not id_:
        raise part.wrong("file", "must have file_data or file_id")
    file.close()
    if not data:
        return File(id=id_, name=name or None)
    if id_:
        file.lose("file_id")
    if is_data_url(data):
        media_type, data = read_data_url(data, (*file.loc, "file_data"))
    else:
        media_type = guess_type(name or "")[0] or _PDF
    return File(data=data, media_type=media_type, name=name or None)


def read_data_url(url: str, loc: Loc) -> tuple[str, str]:
    """The media type without parameters, and the data as base64."""
    head, comma, data = url[5:].partition(",")
    if not comma:
        raise invalid(f"{path(loc)} is a data URL without data", loc)
    media_type, *parameters = (piece.strip().lower() for piece in head.split(";"))
    if "base64" not in parameters:
        data = b64encode(unquote_to_bytes(data)).decode()
    return media_type or "text/plain", data


def write_part(part: object) -> dict[str, Any] | None:
    """A part of a user's message; ``None`` where Chat has none such."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image():
            return _write_image(part)
        case File():
            return _write_file(part)
    return None


def _write_image(image: Image) -> dict[str, Any] | None:
    url = _data_url(image.media_type, image.data) if image.data else image.url
    if url is None:
        return None
    detail = {} if image.detail is None else {"detail": image.detail}
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def _write_file(file: File) -> dict[str, Any] | None:
    """A text document as a text. Chat has no files by URL, and an id is another provider's."""
    if file.text is not None:
        return {"type": "text", "text": f"{file.name}\n\n{file.text}" if file.name else file.text}
    if file.data is None:
        return None
    data = _data_url(file.media_type or _PDF, file.data)
    # OpenAI refuses data without a name.
    return {"type": "file", "file": {"filename": file.name or "document.pdf", "file_data": data}}


def _data_url(media_type: str | None, data: str) -> str:
    return f"data:{media_type or 'application/octet-stream'};base64,{data}"
