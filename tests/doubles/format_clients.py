"""The real SDK of each format, and what it reads without what differs from one answer to the next:
ids, times, and where chunks end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import anthropic
import openai

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
KEY = "key-of-the-client"


@dataclass(frozen=True)
class Client:
    """``path`` of its API and a ``body`` for it; ``ask`` gives the whole answer, or the list of a
    stream's events where that is wanted, the last of them ``{"failed": message}`` where it fails.
    """

    path: str
    body: Callable[..., dict[str, Any]]
    ask: Callable[[str, str, bool], Awaitable[Any]]


# OpenAI Chat


def chat_body(model: str, **more: Any) -> dict[str, Any]:
    function = {"name": "look", "parameters": TOOL}
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hello, thére"},
        ],
        "tools": [{"type": "function", "function": function}],
        **more,
    }


async def _ask_chat(url: str, model: str, stream: bool) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        if not stream:
            whole = await client.chat.completions.create(**chat_body(model))
            return _plain(whole.model_dump(), ("id", "created"))
        options = {"include_usage": True}
        events: list[Any] = []
        chunks = await client.chat.completions.create(
            **chat_body(model), stream=True, stream_options=options
        )
        try:
            async for chunk in chunks:
                events.append(_plain(chunk.model_dump(), ("id", "created")))
        except openai.APIError as error:
            events.append({"failed": error.message})
    return _collected_chunks(events)


def _collected_chunks(events: list[Any]) -> list[Any]:
    """The deltas as one; calls by their index, since parallel ones come side by side."""
    said: dict[str, Any] = {"content": "", "calls": {}}
    rest: list[Any] = []
    for event in events:
        for choice in event.pop("choices", []):
            delta = choice.pop("delta", {})
            said["content"] += delta.get("content", "")
            for call in delta.get("tool_calls", []):
                known = said["calls"].setdefault(call.get("index", 0), {"arguments": ""})
                known["arguments"] += call["function"].pop("arguments", "")
                known |= {k: v for k, v in call.items() if k != "function"}
                known |= call["function"]
            said |= choice
        if event not in rest:
            rest.append(event)
    return [said, *rest]


# OpenAI Responses


def responses_body(model: str, **more: Any) -> dict[str, Any]:
    tool = {"type": "function", "name": "look", "parameters": TOOL, "strict": False}
    return {
        "model": model,
        "instructions": "Be kind.",
        "input": [{"role": "user", "content": "Hello, thére"}],
        "tools": [tool],
        **more,
    }


_OF_RESPONSE = ("object", "status", "error", "model", "output", "usage", "incomplete_details")


async def _ask_responses(url: str, model: str, stream: bool) -> Any:
    ids = ("id", "item_id", "created_at", "sequence_number", "completed_at")
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        if not stream:
            whole = await client.responses.create(**responses_body(model))
            return _only(_plain(whole.model_dump(), ids), _OF_RESPONSE)
        events: list[Any] = []
        async for event in await client.responses.create(**responses_body(model), stream=True):
            plain = _plain(event.model_dump(), ids)
            response = plain.get("response")
            if plain["type"] == "error":
                events.append({"failed": plain["message"]})
            elif plain["type"] == "response.failed":
                events.append({"failed": response["error"]["message"]})
            elif response is not None:
                events.append({**plain, "response": _only(response, _OF_RESPONSE)})
            else:
                events.append(plain)
    # Calls stay open side by side, or follow one another: each item's events are in order.
    at = {i: e.get("output_index", -1 if i < 2 else 99) for i, e in enumerate(events)}
    return _joined([events[i] for i in sorted(at, key=lambda i: (at[i], i))], ("delta",))


# Anthropic Messages


def messages_body(model: str, **more: Any) -> dict[str, Any]:
    return {
        "model": model,
        "max_tokens": 100,
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "Hello, thére"}],
        "tools": [{"name": "look", "input_schema": TOOL}],
        **more,
    }


async def _ask_messages(url: str, model: str, stream: bool) -> Any:
    async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        if not stream:
            whole = await client.messages.create(**messages_body(model))
            return {**_plain(whole.model_dump()), "id": ""}
        events: list[Any] = []
        coming = await client.messages.create(**messages_body(model), stream=True)
        try:
            async for event in coming:
                plain = _plain(event.model_dump())
                # The count at the beginning is an estimate where the provider tells at the end.
                (plain.get("message") or {}).pop("usage", None)
                (plain.get("message") or {}).pop("id", None)
                events.append(plain)
        except anthropic.APIStatusError as error:
            body: Any = error.body
            events.append({"failed": body["error"]["message"]})
    return _joined(events, ("text", "partial_json"))


def _joined(events: Iterable[Any], names: tuple[str, ...]) -> list[Any]:
    """Neighbouring deltas that differ in their text alone, as one."""
    joined: list[Any] = []
    for event in events:
        text, rest = _cut(event, names)
        if joined and text is not None and joined[-1][0] is not None and joined[-1][1] == rest:
            joined[-1] = (joined[-1][0] + text, rest)
        else:
            joined.append((text, rest))
    return [{"text": text, **rest} for text, rest in joined]


def _cut(event: Any, names: tuple[str, ...]) -> tuple[str | None, Any]:
    if not str(event.get("type", "")).endswith("delta"):
        return None, event
    delta = event.get("delta")
    if isinstance(delta, str):
        return delta, {k: v for k, v in event.items() if k != "delta"}
    for name in names:
        if isinstance(delta, dict) and name in delta:
            rest = {k: v for k, v in delta.items() if k != name}
            return delta[name], {**event, "delta": rest}
    return None, event


def _plain(value: Any, without: tuple[str, ...] = ()) -> Any:
    """Without ids, and without what says nothing: ``None``, 0, and what is empty."""
    if isinstance(value, dict):
        members = {k: _plain(v, _inner(without)) for k, v in value.items() if k not in without}
        return {k: v for k, v in members.items() if v not in (None, 0, "", [], {})}
    return [_plain(member, without) for member in value] if isinstance(value, list) else value


def _inner(without: tuple[str, ...]) -> tuple[str, ...]:
    """Chat has ids of calls within, which are the provider's; Responses' own are everywhere."""
    return without if "item_id" in without else ()


def _only(value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value}


CLIENTS = {
    "openai": Client("/v1/chat/completions", chat_body, _ask_chat),
    "responses": Client("/v1/responses", responses_body, _ask_responses),
    "anthropic": Client("/v1/messages", messages_body, _ask_messages),
}
"""By the format, in the words of ``api_format``."""
