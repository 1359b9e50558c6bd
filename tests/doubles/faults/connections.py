"""Connections that stall, break or never end."""

from __future__ import annotations

import asyncio
import zlib
from typing import Final

from tests.doubles.faults.exchange import Exchange, Table, encoded, head

LATE_S: Final = 5.0
"""When a late answer comes: long after the timeouts of the tests that want one."""

DRIP_S: Final = 0.02
HUGE: Final = 512 * 1024 * 1024
INFLATED: Final = 64 * 1024 * 1024
PIECE: Final = b" " * 65536

connections = Table()


@connections("none", "answers rightly")
async def none(call: Exchange) -> None:
    await call.answer()


@connections("slow-headers", "answers rightly, too late")
async def slow_headers(call: Exchange) -> None:
    await asyncio.sleep(LATE_S)
    await call.answer()


@connections("slow-body", "sends the headers at once and the right body too late")
async def slow_body(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"content-length": str(len(content))}))
    await asyncio.sleep(LATE_S)
    await call.write(content)


@connections("slow-drip", "sends the right body byte by byte, never silent for long")
async def slow_drip(call: Exchange) -> None:
    content = b" " * 1000 + encoded(call.right())
    await call.write(head(200, {"content-length": str(len(content))}))
    await _drip(call, content)


@connections("drip-headers", "sends header lines one by one without end")
async def drip_headers(call: Exchange) -> None:
    await call.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        await _drip(call, b"x: y\r\n")


@connections("early-hints", "sends informational responses without end")
async def early_hints(call: Exchange) -> None:
    while True:
        await call.write(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
        await asyncio.sleep(DRIP_S)


@connections("hang", "reads the call and says nothing")
async def hang(call: Exchange) -> None:
    await call.gone()


@connections("close", "reads the call and closes the connection")
async def close(call: Exchange) -> None:
    call.finish()


@connections("close-kept", "answers a connection's first call and closes it within its second")
async def close_kept(call: Exchange) -> None:
    if call.number == 1:
        await call.answer()
    else:
        call.finish()


@connections("half-headers", "closes the connection within the headers")
async def half_headers(call: Exchange) -> None:
    await call.write(head(200, {"content-length": "2"})[:30])
    call.finish()


@connections("half-body", "announces a body and closes the connection in its middle")
async def half_body(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"content-length": str(len(content))}))
    await call.write(content[: len(content) // 2])
    call.finish()


@connections("long-length", "sends a whole right body, announced longer, and closes")
async def long_length(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"content-length": str(len(content) + 1)}))
    await call.write(content)
    call.finish()


@connections("reset", "resets the connection in the middle of the body")
async def reset(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"content-length": str(len(content))}))
    await call.write(content[: len(content) // 2])
    call.reset()


@connections("broken-chunks", "ends a whole right body in chunks without the last, empty one")
async def broken_chunks(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"transfer-encoding": "chunked"}))
    await _chunk(call, content)
    call.finish()


@connections("bad-chunks", "sends a chunk whose length is no number")
async def bad_chunks(call: Exchange) -> None:
    await call.write(head(200, {"transfer-encoding": "chunked"}) + b"many\r\n{}\r\n0\r\n\r\n")
    call.finish()


@connections("not-http", "answers in another protocol")
async def not_http(call: Exchange) -> None:
    await call.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    call.finish()


@connections("huge-body", "streams half a gigabyte before the right body")
async def huge_body(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"content-length": str(HUGE + len(content))}))
    for _ in range(HUGE // len(PIECE)):
        await call.write(PIECE)
    await call.write(content)


@connections("endless-chunks", "streams half a gigabyte in chunks before the right body")
async def endless_chunks(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"transfer-encoding": "chunked"}))
    for _ in range(HUGE // len(PIECE)):
        await _chunk(call, PIECE)
    await _chunk(call, content)
    await call.write(b"0\r\n\r\n")


@connections("huge-error", "streams half a gigabyte under status 422")
async def huge_error(call: Exchange) -> None:
    await call.write(head(422, {"content-length": str(HUGE)}))
    for _ in range(HUGE // len(PIECE)):
        await call.write(PIECE)


@connections("huge-headers", "sends four megabytes of headers before the right body")
async def huge_headers(call: Exchange) -> None:
    await call.answer(headers={f"x-{i}": "y" * 4096 for i in range(1024)})


@connections("gzip-bomb", "sends a right body behind 64 MB of spaces, compressed")
async def gzip_bomb(call: Exchange) -> None:
    content = encoded(call.right())
    await call.write(head(200, {"content-encoding": "gzip", "transfer-encoding": "chunked"}))
    packer = zlib.compressobj(1, wbits=31)
    for _ in range(INFLATED // len(PIECE)):
        await _chunk(call, packer.compress(PIECE))
    await _chunk(call, packer.compress(content) + packer.flush())
    await call.write(b"0\r\n\r\n")


@connections("answers-twice", "sends a second whole answer, to nothing, right behind the first")
async def answers_twice(call: Exchange) -> None:
    content = encoded(call.right())
    surplus = encoded(_sure(call))
    await call.write(
        head(200, {"content-length": str(len(content))})
        + content
        + head(200, {"content-length": str(len(surplus))})
        + surplus
    )


SURPLUS: Final = 0.0123456789
"""The probability of every noul in an answer that nobody asked for."""


def _sure(call: Exchange) -> object:
    response = call.right()
    for members in response.get("states", {"": response}).values():
        for answer in members["answers"].values():
            if answer["type"] == "noul":
                answer["noul"] = SURPLUS
    return response


async def _drip(call: Exchange, content: bytes) -> None:
    for i in range(len(content)):
        await call.write(content[i : i + 1])
        await asyncio.sleep(DRIP_S)


async def _chunk(call: Exchange, content: bytes) -> None:
    if content:  # an empty chunk would be the last
        await call.write(b"%x\r\n%b\r\n" % (len(content), content))
