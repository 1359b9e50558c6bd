"""One answer in three formats, as their documentation has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

INPUT, CACHED, OUTPUT = 12, 3, 5


@dataclass(frozen=True)
class Answer:
    """``calls``: id, name and the pieces of the arguments of each."""

    text: tuple[str, ...]
    calls: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Dialect:
    """``half``: of a stream's events those up to its first words."""

    whole: Callable[[Any, Answer], Any]
    stream: Callable[[Any, Answer], Iterator[bytes]]
    error: Callable[[str], Any]
    failure: Callable[[str], bytes]
    first: bytes

    def half(self, events: list[bytes]) -> list[bytes]:
        at = next((i for i, event in enumerate(events) if self.first in event), 0)
        return events[: at + 1]


def _event(data: Any, name: str | None = None) -> bytes:
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + orjson.dumps(data) + b"\n\n"


# OpenAI Chat


def _chat_usage() -> Any:
    return {
        "prompt_tokens": INPUT,
        "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
    }


def _chat_head(body: Any, kind: str) -> Any:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": body["model"]}


def _chat_whole(body: Any, answer: Answer) -> Any:
    message: Any = {"role": "assistant", "content": "".join(answer.text), "refusal": None}
    if answer.calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": "".join(pieces)}}
            for id, name, pieces in answer.calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "tool_calls" if answer.calls else "stop",
    }
    return {**_chat_head(body, "chat.completion"), "choices": [choice], "usage": _chat_usage()}


def _chat_stream(body: Any, answer: Answer) -> Iterator[bytes]:
    def chunk(delta: Any, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**_chat_head(body, "chat.completion.chunk"), "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for text in answer.text:
        yield chunk({"content": text})
    for index, (id, name, _) in enumerate(answer.calls):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": id, "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
    # Side by side, as parallel calls may come.
    most = max((len(pieces) for _, _, pieces in answer.calls), default=0)
    for at in range(most):
        for index, (_, _, pieces) in enumerate(answer.calls):
            if at < len(pieces):
                call = {"index": index, "function": {"arguments": pieces[at]}}
                yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        head = _chat_head(body, "chat.completion.chunk")
        yield _event({**head, "choices": [], "usage": _chat_usage()})
    yield b"data: [DONE]\n\n"


def _openai_error(message: str) -> Any:
    error = {"message": message, "type": "rate_limit_error", "param": None, "code": None}
    return {"error": error}


CHAT = Dialect(
    _chat_whole,
    _chat_stream,
    _openai_error,
    lambda message: _event(_openai_error(message)),
    b"Hel",
)

# OpenAI Responses


def _response(body: Any, status: str, output: list[Any], **more: Any) -> Any:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "usage": None,
        **more,
    }


def _responses_usage() -> Any:
    return {
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": 0},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT + OUTPUT,
    }


def _items(answer: Answer, status: str = "completed") -> list[Any]:
    text = {
        "type": "output_text",
        "text": "".join(answer.text),
        "annotations": [],
        "logprobs": [],
    }
    message = {"id": "msg_1", "type": "message", "status": status, "role": "assistant"}
    calls = [
        {
            "id": f"fc_{at}",
            "type": "function_call",
            "status": status,
            "call_id": id,
            "name": name,
            "arguments": "".join(pieces),
        }
        for at, (id, name, pieces) in enumerate(answer.calls)
    ]
    return [{**message, "content": [text]}, *calls]


def _responses_whole(body: Any, answer: Answer) -> Any:
    return _response(body, "completed", _items(answer), usage=_responses_usage())


def _responses_stream(body: Any, answer: Answer) -> Iterator[bytes]:
    for number, data in enumerate(_responses_events(body, answer)):
        yield _event({**data, "sequence_number": number}, data["type"])


def _responses_events(body: Any, answer: Answer) -> Iterator[Any]:
    begun = _response(body, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    message, *calls = _items(answer)
    started = {**message, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": started}
    at = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    part = message["content"][0]
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for text in answer.text:
        yield {"type": "response.output_text.delta", **at, "delta": text, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": message}
    for index, call in enumerate(calls, start=1):
        started = {**call, "status": "in_progress", "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": started}
        at = {"item_id": call["id"], "output_index": index}
        for piece in answer.calls[index - 1][2]:
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        done = {"arguments": call["arguments"]}
        yield {"type": "response.function_call_arguments.done", **at, **done}
        yield {"type": "response.output_item.done", "output_index": index, "item": call}
    yield {"type": "response.completed", "response": _responses_whole(body, answer)}


def _responses_failure(message: str) -> bytes:
    data = {"type": "error", "code": "rate_limit_exceeded", "message": message, "param": None}
    return _event({**data, "sequence_number": 9}, "error")


RESPONSES = Dialect(_responses_whole, _responses_stream, _openai_error, _responses_failure, b"Hel")

# Anthropic Messages


def _messages_usage() -> Any:
    return {
        "input_tokens": INPUT - CACHED,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": CACHED,
        "output_tokens": OUTPUT,
    }


def _message(body: Any, content: list[Any], reason: str | None, usage: Any) -> Any:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _messages_whole(body: Any, answer: Answer) -> Any:
    content: list[Any] = [{"type": "text", "text": "".join(answer.text)}]
    for id, name, pieces in answer.calls:
        input = orjson.loads("".join(pieces))
        content.append({"type": "tool_use", "id": id, "name": name, "input": input})
    return _message(body, content, "tool_use" if answer.calls else "end_turn", _messages_usage())


def _messages_stream(body: Any, answer: Answer) -> Iterator[bytes]:
    for data in _messages_events(body, answer):
        yield _event(data, data["type"])


def _messages_events(body: Any, answer: Answer) -> Iterator[Any]:
    begun = _message(body, [], None, {**_messages_usage(), "output_tokens": 1})
    yield {"type": "message_start", "message": begun}
    block: Any = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "ping"}
    for text in answer.text:
        delta = {"type": "text_delta", "text": text}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    for index, (id, name, pieces) in enumerate(answer.calls, start=1):
        block = {"type": "tool_use", "id": id, "name": name, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in pieces:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": _messages_usage()}
    yield {"type": "message_stop"}


def _messages_error(message: str) -> Any:
    return {"type": "error", "error": {"type": "rate_limit_error", "message": message}}


MESSAGES = Dialect(
    _messages_whole,
    _messages_stream,
    _messages_error,
    lambda message: _event(_messages_error(message), "error"),
    b"Hel",
)
