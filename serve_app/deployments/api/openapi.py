"""The OpenAPI document: what stands under which path. Bodies are the formats' own (80-http)."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from serve_app.deployments.api.exchange import Api

CONFIG: Final = "/api/v1/config"
VALIDATE: Final = "/api/v1/config/validate"

_ANY_OBJECT: Final = {"type": "object", "additionalProperties": True}
_KEYS: Final = {
    "key": {"type": "http", "scheme": "bearer"},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
}
_TEXT: Final = {"type": "string"}
_YAML: Final = "application/yaml"

_CHAT_MODEL: Final = {**_TEXT, "description": "An entrypoint, or a chat model's own name."}

_CHAT: Final = {
    "type": "object",
    "required": ["model", "messages"],
    "additionalProperties": True,
    "properties": {
        "model": _CHAT_MODEL,
        "messages": {"type": "array", "minItems": 1, "items": _ANY_OBJECT},
        "stream": {"type": "boolean"},
    },
}
_RESPONSES: Final = {
    "type": "object",
    "required": ["model", "input"],
    "additionalProperties": True,
    "properties": {
        "model": _CHAT_MODEL,
        "input": {"anyOf": [_TEXT, {"type": "array", "minItems": 1, "items": _ANY_OBJECT}]},
        "instructions": _TEXT,
        "stream": {"type": "boolean"},
    },
}
_COUNT_TOKENS: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["model", "messages"],
    "additionalProperties": True,
    "properties": {
        "model": _CHAT_MODEL,
        "messages": {"type": "array", "minItems": 1, "items": _ANY_OBJECT},
        "system": {"anyOf": [_TEXT, {"type": "array", "items": _ANY_OBJECT}]},
    },
}
_MESSAGES: Final = {
    **_COUNT_TOKENS,
    "required": ["model", "messages", "max_tokens"],
    "properties": {
        **_COUNT_TOKENS["properties"],
        "max_tokens": {"type": "integer", "minimum": 0},
        "stream": {"type": "boolean"},
    },
}
_SYSTEMONE: Final = {
    "type": "object",
    "required": ["model"],
    "additionalProperties": True,
    "properties": {
        "model": {"type": "string"},
        "state": {"type": ["string", "object", "array"]},
        "questions": {"type": "object", "minProperties": 1, "additionalProperties": _ANY_OBJECT},
        "states": {
            "type": "object",
            "description": "A batch, instead of state and questions.",
            "additionalProperties": _ANY_OBJECT,
        },
        "options": {
            "type": "object",
            "properties": {
                "deadline_ms": {"type": "integer", "minimum": 1},
                "return_meta": {"type": "boolean"},
            },
        },
    },
}
_PREVIEW: Final = {
    "anyOf": [
        _CHAT,
        _RESPONSES,
        _MESSAGES,
        {
            "type": "object",
            "required": ["text"],
            "properties": {"text": _TEXT, "model": _TEXT},
        },
    ]
}


@cache
def document() -> dict[str, Any]:
    """OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "System One router", "version": "1"},
        "components": {"securitySchemes": _KEYS},
        "security": [{}, *({name: []} for name in _KEYS)],
        "paths": {
            Api.CHAT.value: {"post": _post("OpenAI Chat completions, routed", _CHAT)},
            Api.RESPONSES.value: {"post": _post("OpenAI Responses, routed", _RESPONSES)},
            Api.MESSAGES.value: {"post": _post("Anthropic Messages, routed", _MESSAGES)},
            Api.COUNT_TOKENS.value: {
                "post": _post("An estimate of a message's input tokens", _COUNT_TOKENS)
            },
            Api.SYSTEMONE.value: {"post": _post("Typed questions about a state", _SYSTEMONE)},
            Api.PREVIEW.value: {"post": _post("What a chat request would do", _PREVIEW)},
            "/v1/models": {"get": _get("Entrypoints, chat models and decision models")},
            CONFIG: {"get": _get("The active configuration without secrets", "401")},
            VALIDATE: {"post": _post("What is wrong with a configuration", _TEXT, _YAML, "429")},
            "/health": {"get": _get("Whether this process lives")},
            "/ready": {"get": _get("Whether each deployment is ready, and why not", "503")},
            "/metrics": {"get": _get("Prometheus metrics")},
        },
    }


def _post(
    summary: str, schema: dict[str, Any], content: str = "application/json", *others: str
) -> dict[str, Any]:
    body = {"required": True, "content": {content: {"schema": schema}}}
    return {**_get(summary, "400", "401", "413", "422", *others), "requestBody": body}


def _get(summary: str, *others: str) -> dict[str, Any]:
    responses = {"200": {"description": "OK"}} | {s: {"description": "Not OK"} for s in others}
    return {"summary": summary, "responses": responses}
