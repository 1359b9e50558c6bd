"""API-1, API-3: an answer of one format in another, without a server."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.errors import Code, RouterError, WireFormat
from serve_app.wire.body import json_bytes
from serve_app.wire.format import Head
from serve_app.wire.formats import FORMATS
from serve_app.wire.frames import Frames
from serve_app.wire.neutral.events import Failed
from serve_app.wire.translation import ALIVE, StreamTranslator, read_whole, write_whole
from tests.doubles.format_clients import CLIENTS
from tests.doubles.json_values import JSON, places
from tests.doubles.polyglot import TEXT, TOOLS
from tests.doubles.polyglot_answers import CHAT, MESSAGES, RESPONSES, Answer, Dialect

NAMES = {
    WireFormat.CHAT: "openai",
    WireFormat.RESPONSES: "responses",
    WireFormat.ANTHROPIC: "anthropic",
}
DIALECTS = {
    WireFormat.CHAT: CHAT,
    WireFormat.RESPONSES: RESPONSES,
    WireFormat.ANTHROPIC: MESSAGES,
}
ASKED: Any = {"model": "text", "stream_options": {"include_usage": True}}


def head(client: WireFormat) -> Head:
    body = CLIENTS[NAMES[client]].body("auto", stream_options={"include_usage": True})
    return Head("1", 7, "theirs", FORMATS[client].read_request(body), 5)


def translator(provider: WireFormat, client: WireFormat) -> StreamTranslator:
    reader, writer = FORMATS[provider].answer_reader(), FORMATS[client].writer(head(client))
    return StreamTranslator(reader, writer, FORMATS[client])


def said(data: bytes) -> list[str]:
    return [frame.data for frame in Frames().feed(data)]


@pytest.mark.parametrize("client", FORMATS)
@pytest.mark.parametrize("provider", FORMATS)
@given(data=st.data())
def test_where_the_providers_bytes_are_cut_changes_nothing(
    provider: WireFormat, client: WireFormat, data: st.DataObject
) -> None:
    """API-3"""
    dialect: Dialect = DIALECTS[provider]
    answer = data.draw(st.sampled_from([TEXT, TOOLS]))
    stream = b"".join(dialect.stream(ASKED, answer))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=9)))
    whole, cut = translator(provider, client), translator(provider, client)
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    came = b"".join(cut.feed(piece) for piece in pieces) + cut.end()
    assert said(came) == said(whole.feed(stream) + whole.end())


@pytest.mark.parametrize("client", FORMATS)
def test_what_says_nothing_to_the_client_keeps_its_connection_alive(client: WireFormat) -> None:
    """API-3"""
    stream = translator(WireFormat.ANTHROPIC, client)
    assert stream.feed(b": comment\n\n") == ALIVE
    assert stream.feed(b'event: ping\ndata: {"type": "ping"}\n\n') == ALIVE
    assert said(ALIVE) == []


@pytest.mark.parametrize("client", FORMATS)
@pytest.mark.parametrize("code", [Code.PROVIDER_FAILED, Code.DEADLINE_EXCEEDED])
def test_a_stream_that_fails_ends_in_one_error(client: WireFormat, code: Code) -> None:
    """API-3"""
    stream = translator(WireFormat.CHAT, client)
    began = stream.feed(b"".join(CHAT.half(list(CHAT.stream(ASKED, TEXT)))))
    assert b"Hel" in began
    last = said(stream.fail(RouterError(code, "why")))
    assert "why" in last[-1]
    assert len(last) == 1
    assert stream.end() == b""
    if client is WireFormat.CHAT:
        assert orjson.loads(last[0])["error"]["code"] == code.value


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("body", [b"", b"x", b"[1]", b'"x"', b"9" * 5000, b"[" * 99 + b"]" * 99])
def test_what_is_no_answer_is_a_failure(provider: WireFormat, body: bytes) -> None:
    """API-11: as an error, or as one that the events tell of"""
    assert _failed(provider, body)


def _failed(provider: WireFormat, body: bytes) -> bool:
    try:
        events = read_whole(FORMATS[provider], body)
    except RouterError as error:
        return error.code is Code.PROVIDER_FAILED
    return any(isinstance(event, Failed) for event in events)


@pytest.mark.parametrize("client", FORMATS)
@pytest.mark.parametrize(("status", "shown"), [(429, 429), (None, 502)])
def test_a_failure_has_its_own_status(client: WireFormat, status: int | None, shown: int) -> None:
    """API-5"""
    answer = write_whole(FORMATS[client], [Failed("busy", "x", status)], head(client))
    assert answer.status == shown
    error = orjson.loads(answer.body)["error"]
    assert error["message"] == "busy"


@pytest.mark.parametrize("client", FORMATS)
@pytest.mark.parametrize("provider", FORMATS)
def test_integers_of_any_size_survive_in_arguments(
    provider: WireFormat, client: WireFormat
) -> None:
    """API-1"""
    answer = Answer(text=("x",), calls=(("c", "look", (f'{{"n":{2**70}}}',)),))
    body = DIALECTS[provider].whole(ASKED, answer)
    if provider is WireFormat.ANTHROPIC:  # the double reads them as floats
        body["content"][1]["input"] = "HERE"
    data = orjson.dumps(body).replace(b'"HERE"', b'{"n":%d}' % 2**70)
    events = read_whole(FORMATS[provider], data)
    assert str(2**70).encode() in write_whole(FORMATS[client], events, head(client)).body


@pytest.mark.parametrize("client", FORMATS)
@pytest.mark.parametrize("provider", FORMATS)
@given(data=st.data())
def test_whatever_a_provider_sends_a_client_reads_a_stream(
    provider: WireFormat, client: WireFormat, data: st.DataObject
) -> None:
    """API-3, S1-9: an event's member may be anything, and events may be missing or stand twice"""
    events = list(DIALECTS[provider].stream(ASKED, data.draw(st.sampled_from([TEXT, TOOLS]))))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(events) - 1))
        match data.draw(st.sampled_from(["missing", "twice", "changed"])):
            case "missing":
                events.insert(0, events.pop(at))
            case "twice":
                events.append(events[at])
            case "changed":
                events[at] = _changed(events[at], data)
    stream = translator(provider, client)
    came = b"".join(stream.feed(event) for event in events) + stream.end()
    told = [orjson.loads(text) for text in said(came) if text != "[DONE]"]
    assert told
    assert all(isinstance(event, dict) for event in told)


def _changed(event: bytes, data: st.DataObject) -> bytes:
    head, found, text = event.partition(b"data: ")
    if not found or text.startswith(b"[DONE]"):
        return event
    body = orjson.loads(text)
    way = data.draw(st.sampled_from(places(body)))
    value = data.draw(JSON)
    if not way:
        body = value
    else:
        target = body
        for step in way[:-1]:
            target = target[step]
        target[way[-1]] = value
    return head + found + json_bytes(body) + b"\n\n"
