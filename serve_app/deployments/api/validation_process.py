"""Checks one document from standard input, in a process of its own (CFG-10).

``python -m serve_app.deployments.api.validation_process``: reads ``{text, variables}`` as JSON,
writes ``{valid, version, problems}``. The process that it works for gives it the names of
variables and no values.
"""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import asdict, replace
from typing import Any, Final

import orjson

from models.cards.shipped import shipped_cards
from serve_app.config.loading import check_text
from serve_app.config.problem import Problem

CPU_S: Final = 10
MEMORY_BYTES: Final = 1024 * 1024 * 1024
"""Of address space; a document of the largest size needs a quarter of it."""

MAX_PROBLEMS: Final = 200
MAX_ALLOWED: Final = 100
MAX_CHARACTERS: Final = 1000
"""A document can name much in little: they keep the answer below a few megabytes."""

NAME: Final = "document"


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.nice(10)  # requests go first
    asked = orjson.loads(sys.stdin.buffer.read())
    verdict = check_text(asked["text"], NAME, cards=shipped_cards(), variables=asked["variables"])
    shown = list(map(_shown, verdict.problems[:MAX_PROBLEMS]))
    body = {
        "valid": verdict.valid,
        "version": verdict.version,
        "problems": shown,
        "more_problems": len(verdict.problems) - len(shown),
    }
    sys.stdout.buffer.write(orjson.dumps(body))


def _shown(problem: Problem) -> dict[str, Any]:
    fields = asdict(replace(problem, allowed=problem.allowed[:MAX_ALLOWED]))
    cut = {name: _cut(value) for name, value in fields.items() if isinstance(value, str)}
    return {**fields, **cut, "allowed": list(map(_cut, fields["allowed"]))}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


if __name__ == "__main__":
    main()
