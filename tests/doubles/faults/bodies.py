"""Whole answers that are no System One response: statuses, headers, bodies."""

from __future__ import annotations

from typing import Any, Final

from tests.doubles.faults.exchange import Exchange, Table, encoded

bodies = Table()

ELSEWHERE: Final = "elsewhere"
"""The fault that redirects lead to; whoever comes there followed one."""


@bodies("text-plain", "sends the right body as text/plain")
async def text_plain(call: Exchange) -> None:
    await call.answer(headers={"content-type": "text/plain"})


@bodies("html", "sends a page of HTML with status 200")
async def html(call: Exchange) -> None:
    await call.answer(b"<html>Welcome</html>", headers={"content-type": "text/html"})


@bodies("xssi", "writes )]}' before the right body")
async def xssi(call: Exchange) -> None:
    await call.answer(b")]}'\n" + encoded(call.right()))


@bodies("not-json", "sends the right body without its last brace")
async def not_json(call: Exchange) -> None:
    await call.answer(encoded(call.right())[:-1])


@bodies("not-utf-8", "sends bytes that are no UTF-8 within a string")
async def not_utf_8(call: Exchange) -> None:
    await call.answer(encoded(call.right()).replace(b'"remote-1"', b'"\xff\xfe"'))


@bodies("utf-16", "sends the right body in UTF-16")
async def utf_16(call: Exchange) -> None:
    await call.answer(encoded(call.right()).decode().encode("utf-16"))


@bodies("deep", "nests a hundred thousand lists in a member nobody reads")
async def deep(call: Exchange) -> None:
    nested = b'"x_deep": ' + b"[" * 100_000 + b"]" * 100_000
    await call.answer(encoded(call.right())[:-1] + b", " + nested + b"}")


@bodies("empty", "sends status 200 without a body")
async def empty(call: Exchange) -> None:
    await call.answer(b"")


@bodies("no-content", "sends status 204")
async def no_content(call: Exchange) -> None:
    await call.answer(b"", 204)


def _json(name: str, body: Any) -> None:
    @bodies(f"json-{name}", f"sends JSON that is no response: {encoded(body).decode()}")
    async def act(call: Exchange) -> None:
        await call.answer(body)


_json("null", b"null")
_json("list", [])
_json("number", 1)
_json("string", "answers")
_json("empty-object", {})
_json("answers-list", {"answers": [], "states": []})
_json("answers-null", {"answers": None, "states": None})


def _status(status: int, name: str, body: Any, headers: dict[str, str] | None = None) -> None:
    @bodies(name, f"sends status {status}")
    async def act(call: Exchange) -> None:
        await call.answer(body, status, headers)


def _detail(error_type: str) -> dict[str, Any]:
    return {"detail": {"error_type": error_type, "message": "No."}}


_status(400, "400", b"Bad request", {"content-type": "text/plain"})
_status(401, "401", _detail("authentication_error"))
_status(402, "402", _detail("insufficient_credit"))
_status(403, "403", _detail("authentication_error"))
_status(404, "404", _detail("not_found"))
_status(413, "413", _detail("request_too_large"))
_status(429, "429", _detail("rate_limit_error"), {"retry-after": "1"})
_status(429, "429-overloaded", {"error": {"code": "overloaded", "message": "Full."}})
_status(500, "500", _detail("internal_error"))
_status(503, "503", _detail("not_ready"))
_status(529, "529", _detail("overloaded"), {"retry-after": "7"})
_status(529, "529-ms", _detail("overloaded"), {"retry-after": "60", "retry-after-ms": "2500"})
_status(529, "529-odd", _detail("overloaded"), {"retry-after": "nan", "retry-after-ms": "-1"})


@bodies("500-right", "sends the right body with status 500")
async def right_500(call: Exchange) -> None:
    await call.answer(status=500)


@bodies("201", "sends the right body with status 201")
async def created(call: Exchange) -> None:
    await call.answer(status=201)


def _redirect(status: int) -> None:
    @bodies(f"redirect-{status}", f"redirects with status {status} to where calls are answered")
    async def act(call: Exchange) -> None:
        await call.answer(b"", status, {"location": f"/fault/{ELSEWHERE}/v1/systemone"})


for _each in (301, 302, 303, 307, 308):
    _redirect(_each)


@bodies(ELSEWHERE, "answers rightly")
async def elsewhere(call: Exchange) -> None:
    await call.answer()
