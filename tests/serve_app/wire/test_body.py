"""Reading a body (API-6, S1-9)."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError
from serve_app.wire.body import MAX_DEPTH, decompress, parse_json, read_body
from tests.doubles.json_values import JSON

CAP = 1000


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_a_declared_length_over_the_cap_is_refused_unread() -> None:
    """API-6"""
    read = []

    async def watched() -> AsyncIterator[bytes]:
        read.append(1)
        yield b""

    with pytest.raises(RouterError) as caught:
        await read_body({"content-length": str(CAP + 1)}, watched(), CAP)
    assert caught.value.code is Code.REQUEST_TOO_LARGE
    assert read == []


async def test_reading_stops_at_the_first_byte_too_many() -> None:
    """API-6"""
    read = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            read.append(1)
            yield b"x" * 400

    with pytest.raises(RouterError) as caught:
        await read_body({}, endless(), CAP)
    assert caught.value.code is Code.REQUEST_TOO_LARGE
    assert len(read) == 3


async def test_a_length_that_lies_changes_nothing() -> None:
    """API-6"""
    for length in ("", "-1", "²", "9" * 5000, "1e9"):
        headers = {"content-length": length}
        if length.startswith("9"):
            with pytest.raises(RouterError):
                await read_body(headers, pieces(b"abc"), CAP)
        else:
            assert await read_body(headers, pieces(b"a", b"bc"), CAP) == b"abc"


@given(st.binary(max_size=CAP))
def test_zstd_is_undone_within_the_cap(data: bytes) -> None:
    """S1-7, API-6"""
    assert decompress(zstd.compress(data), "ZSTD", CAP) == data
    assert decompress(data, "identity", CAP) == data


@given(st.binary(max_size=200))
def test_no_bytes_make_decompression_fail_otherwise_than_as_a_refusal(data: bytes) -> None:
    """S1-9"""
    with contextlib.suppress(RouterError):
        decompress(data, "zstd", CAP)


def test_a_window_above_8_mib_is_refused() -> None:
    """API-6: RFC 9659's bound on what a frame may make a receiver hold"""
    options = {zstd.CompressionParameter.window_log: 27}
    compressor = zstd.ZstdCompressor(options=options)
    frame = compressor.compress(b"{}") + compressor.flush()
    with pytest.raises(RouterError) as caught:
        decompress(frame, "zstd", CAP)
    assert caught.value.code is Code.INVALID_REQUEST


@given(JSON)
def test_json_that_is_json_is_read_as_it_is(value: Any) -> None:
    """API-2"""
    try:
        data = orjson.dumps(value)
    except orjson.JSONEncodeError:  # an integer of more than 64 bits
        return
    assert parse_json(data) == orjson.loads(data)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max((depth(member) for member in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(member) for member in value), default=0)
    return 0


@given(st.integers(0, 140), st.text('[]{}"\\a', max_size=80))
def test_what_nests_deeper_than_the_cap_is_too_deep_and_nothing_else_is(
    levels: int, text: str
) -> None:
    """API-6: brackets within strings do not count"""
    leaf = orjson.dumps({text: text})
    data = b"[" * levels + leaf + b"]" * levels
    if levels + 1 > MAX_DEPTH:
        assert refusal(data) is Code.TOO_DEEP
    else:
        assert depth(parse_json(data)) == levels + 1


def refusal(data: bytes) -> Code:
    with pytest.raises(RouterError) as caught:
        parse_json(data)
    return caught.value.code


@pytest.mark.parametrize("data", [b"[" * 5_000_000, b"[" * 4_000_000 + b"]" * 4_000_000])
def test_depth_without_bounds_costs_no_stack(data: bytes) -> None:
    """API-6"""
    assert refusal(data) is Code.TOO_DEEP


def test_an_error_quotes_nothing_of_the_body() -> None:
    """S1-9; law 5"""
    with pytest.raises(RouterError) as caught:
        parse_json(b'{"secret": oops}')
    assert "secret" not in caught.value.message
    assert "oops" not in caught.value.message
