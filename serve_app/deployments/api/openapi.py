"""The OpenAPI document: what stands under which path. Bodies are the formats' own (80-http)."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from serve_app.deployments.api.exchange import Api

CONFIG: Final = "/api/v1/config"
VALIDATE: Final = "/api/v1/config/validate"

_ANY_OBJECT: Final = {"type": "object", "additionalProperties": True}
_TEXT: Final = {"type": "string"}
_YAML: Final = "application/yaml"

_CHAT: Final = {
    "type": "object",
    "required": ["model", "messages"],
    "additionalProperties": True,
    "properties": {
        "model": {"type": "string", "description": "An entrypoint, or a chat model's own name."},
        "messages": {"type": "array", "minItems": 1, "items": _ANY_OBJECT},
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
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"key": []}],
        "paths": {
            Api.CHAT.value: {"post": _post("OpenAI Chat completions, routed", _CHAT)},
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
