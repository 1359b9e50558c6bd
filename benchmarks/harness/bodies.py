"""What the load generator sends: the same prompt as a System One body or as a chat."""

from __future__ import annotations

from enum import StrEnum

import orjson

from models.questions.types import JsonValue


class Body(StrEnum):
    """The shape of a request body."""

    SYSTEMONE = "systemone"
    CHAT = "chat"


def render(shape: Body, prompt: str, questions: JsonValue) -> bytes:
    """The JSON body that asks ``questions`` about ``prompt``.

    A chat carries no questions: the router's recipe asks its own.
    """
    if shape is Body.SYSTEMONE:
        return orjson.dumps({"model": "jev-latest", "state": prompt, "questions": questions})
    return orjson.dumps({"model": "auto", "messages": [{"role": "user", "content": prompt}]})
