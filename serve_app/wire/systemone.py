"""System One's failures on the wire (S1-9). Bodies and answers: ``models.questions.standard``."""

from __future__ import annotations

from typing import Any

from models.questions.standard import Problem
from serve_app.errors import TABLE, RouterError, WireFormat

UNPROCESSABLE = 422


def error_body(error: RouterError) -> dict[str, Any]:
    """A list of what is wrong for a 422, else ``{error_type, message}``."""
    wire = TABLE[error.code][WireFormat.SYSTEMONE]
    if wire.status == UNPROCESSABLE:
        detail = {"loc": list(error.loc or ("body",)), "msg": error.message, "type": wire.type}
        return {"detail": [detail]}
    return {"detail": {"error_type": wire.type, "message": error.message}}


def problems_body(problems: tuple[Problem, ...]) -> dict[str, Any]:
    return {"detail": [problem.json() for problem in problems]}
