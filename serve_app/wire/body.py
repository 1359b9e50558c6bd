"""Reading a body: bounded before anything is parsed, never a 5xx (API-6, API-11, S1-9).

The cap holds for what arrives and for what it decompresses to. A client that declares more is
refused without being read; one that sends more is refused at the first byte too many.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, Mapping
from typing import Final

import orjson
from backports import zstd

from models.questions.types import JsonValue
from serve_app.errors import Code, RouterError

MAX_DEPTH: Final = 64
"""Containers inside one another (API-6)."""

ZSTD_WINDOW_LOG_MAX: Final = 23
"""8 MiB, the largest window that an HTTP receiver has to support (RFC 9659)."""


class ClientLeftError(Exception):
    """The client closed its connection before its body had come."""


async def read_body(
    headers: Mapping[str, str], chunks: AsyncIterable[bytes], max_bytes: int
) -> bytes:
    """The whole body, decompressed. ``RouterError``: too large, or an encoding it does not read."""
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > max_bytes:
        raise _too_large(max_bytes)
    received = bytearray()
    async for chunk in chunks:
        received += chunk
        if len(received) > max_bytes:
            raise _too_large(max_bytes)
    encoding = headers.get("content-encoding")
    return bytes(received) if encoding is None else decompress(received, encoding, max_bytes)


def decompress(data: bytes | bytearray, encoding: str, max_bytes: int) -> bytes:
    """Undoes a ``Content-Encoding``: ``zstd``, as one frame, or ``identity``."""
    match encoding.strip().lower():
        case "identity" | "":
            return bytes(data)
        case "zstd":
            return _unzstd(data, max_bytes)
    raise RouterError(
        Code.INVALID_REQUEST,
        "the Content-Encoding is none of: identity, zstd",
        loc=("header", "content-encoding"),
    )


def _unzstd(data: bytes | bytearray, max_bytes: int) -> bytes:
    window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG_MAX}
    decompressor = zstd.ZstdDecompressor(options=window)
    try:
        plain = decompressor.decompress(data, max_bytes + 1)
    except zstd.ZstdError:
        raise RouterError(Code.INVALID_REQUEST, "the body is no zstd frame", loc=_BODY) from None
    if len(plain) > max_bytes:
        raise _too_large(max_bytes)
    if not decompressor.eof:
        raise RouterError(Code.INVALID_REQUEST, "the body's zstd frame is cut short", loc=_BODY)
    if decompressor.unused_data:
        raise RouterError(Code.INVALID_REQUEST, "the body has more than one zstd frame", loc=_BODY)
    return bytes(plain)


def parse_json(data: bytes) -> JsonValue:
    """The body as JSON: RFC 8259 alone, so neither NaN nor Infinity, in UTF-8."""
    if not data:
        raise RouterError(Code.INVALID_REQUEST, "the body is empty", loc=_BODY)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "limit" in error.msg:  # the parser's own, 1024 levels
            raise _too_deep() from None
        raise RouterError(
            Code.INVALID_REQUEST, f"the body is no JSON: byte {error.pos}", loc=_BODY
        ) from None
    # Counting is a scan at memory speed and settles nearly every body.
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and _depth_exceeds(value, MAX_DEPTH):
        raise _too_deep()
    return value


def with_whole_integers(value: JsonValue, data: bytes) -> JsonValue:
    """``value``, which ``parse_json`` read from ``data``, with every integer as it was written:
    the parser makes floats of those beyond 64 bits.
    """
    return json.loads(data) if _LONG_NUMBER.search(data) else value


def json_bytes(value: JsonValue) -> bytes:
    """``value`` as JSON; its integers may be of any size."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_BODY: Final = ("body",)

_LONG_NUMBER: Final = re.compile(rb"[0-9]{19}")
"""The shortest integer beyond 64 bits is -9223372036854775809. Most bodies have no such run; one
in a text costs a second parse.
"""


def _too_large(max_bytes: int) -> RouterError:
    return RouterError(
        Code.REQUEST_TOO_LARGE, f"the body is larger than {max_bytes} bytes", loc=_BODY
    )


def _too_deep() -> RouterError:
    return RouterError(
        Code.TOO_DEEP, f"the body nests deeper than {MAX_DEPTH} containers", loc=_BODY
    )


def _depth_exceeds(value: JsonValue, most: int) -> bool:
    """Goes down level by level, so that depth costs no stack."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(most):
        level = [
            member
            for container in level
            for member in (container.values() if isinstance(container, dict) else container)
            if isinstance(member, (dict, list))
        ]
        if not level:
            return False
    return True
