"""A Responses body as the policy reads it (SIG-2), and as it goes upstream (API-2).

Only what the router reads is checked; every other field passes through as the client wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.message import Message, Role
from serve_app.wire.body import json_bytes
from serve_app.wire.neutral.message import Said, length, message_of
from serve_app.wire.places import invalid
from serve_app.wire.responses.fields import Fields
from serve_app.wire.responses.items import content_of, read_items
from serve_app.wire.responses.sealing import is_sealed

_INSTEAD_OF_INPUT: Final = ("previous_response_id", "conversation", "prompt")


@dataclass(frozen=True, slots=True)
class ResponsesRequest:
    """``body`` is the client's own. ``store``: whether the answer may be asked for again."""

    model: str
    stream: bool
    previous_response_id: str | None
    store: bool
    body: dict[str, Any]


def read_request(body: JsonValue) -> ResponsesRequest:
    """The envelope. ``RouterError`` names the field that is wrong."""
    if not isinstance(body, dict):
        raise invalid("the body must be an object")
    fields = Fields(body, ())
    model = fields.string("model")
    if not model:
        raise fields.wrong("model", "must be a name")
    _check_input(fields)
    fields.string("instructions")
    return ResponsesRequest(
        model=model,
        stream=fields.flag("stream") is True,
        previous_response_id=fields.string("previous_response_id"),
        store=fields.flag("store") is not False,
        body=body,
    )


def read_message(body: Mapping[str, Any], headers: Mapping[str, str]) -> Message:
    """The conversation of a body that ``read_request`` accepted.

    ``headers``: those that rules read, in lower case and without credentials.
    """
    return message_of(
        [*_before_input(body), *read_items(body.get("input"))],
        headers,
        metadata=body.get("metadata"),
        tool_definitions=length(body.get("tools")),
    )


def upstream_body(body: Mapping[str, Any], model: str) -> bytes:
    """The client's body with the provider's own name of the model (API-2), without reasoning that
    a provider of another format hid: this one would refuse it."""
    return json_bytes({**body, "model": model, **_without_sealed(body.get("input"))})


def _check_input(fields: Fields) -> None:
    given = fields.take("input")
    if given is None and any(fields.take(name) for name in _INSTEAD_OF_INPUT):
        return
    if not isinstance(given, str | list) or given == []:
        raise fields.wrong("input", "must be a string or a list with at least one item")


def _before_input(body: Mapping[str, Any]) -> list[Said]:
    """The instructions, and what is put in the places of a prompt that the provider keeps."""
    before: list[Said] = []
    if instructions := body.get("instructions"):
        before.append(Said(Role.SYSTEM, content_of(instructions, ("instructions",))))
    prompt = body.get("prompt")
    variables = prompt.get("variables") if isinstance(prompt, dict) else None
    if isinstance(variables, dict) and variables:
        parts = [v if isinstance(v, dict) else {"text": v} for v in variables.values()]
        before.append(Said(Role.USER, content_of(parts, ("prompt", "variables"))))
    return before


def _without_sealed(given: JsonValue) -> dict[str, Any]:
    if not isinstance(given, list) or not any(_is_sealed(item) for item in given):
        return {}
    return {"input": [item for item in given if not _is_sealed(item)]}


def _is_sealed(item: JsonValue) -> bool:
    return isinstance(item, dict) and is_sealed(item.get("encrypted_content"))
