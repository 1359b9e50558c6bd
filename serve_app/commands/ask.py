"""``ask``: typed questions to the embedded model, answered in this process (S1-10, S1-11)."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from models.ask import ask as ask_engine
from models.cards.shipped import shipped_card
from models.questions.standard import RequestError
from models.questions.types import JsonValue
from serve_app.config.schema.catalog import Placement
from serve_app.deployments.placement.engines import load_engine


class Format(StrEnum):
    JSON = "json"
    TABLE = "table"


def ask(
    body: Annotated[
        Path | None,
        typer.Argument(help="A System One request as JSON, - for standard input.", allow_dash=True),
    ] = None,
    state: Annotated[str | None, typer.Option(help="The text to ask about.")] = None,
    noul: Annotated[list[str] | None, typer.Option(help="A yes-or-no question.")] = None,
    choice: Annotated[list[str] | None, typer.Option(help="Options: a,b,c")] = None,
    format: Annotated[Format, typer.Option(help="How to print the answers.")] = Format.JSON,
) -> None:
    """Asks the embedded model. Exit 0: it answered, 1: the request is malformed."""
    try:
        request = read_body(body) if body is not None else body_of(state, noul or [], choice or [])
        engine = load_engine(shipped_card("embedded"), Placement())
        answer = ask_engine(engine, request)
    except RequestError as error:
        for problem in error.problems:
            typer.echo(f"{'.'.join(map(str, problem.loc))}: {problem.message}", err=True)
        raise typer.Exit(1) from None
    if format is Format.TABLE:
        Console().print(answers_view(answer))
    else:
        typer.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())


def read_body(path: Path) -> JsonValue:
    """The JSON in a file, or on standard input for ``-``."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return orjson.loads(data)
    except OSError as error:
        raise typer.BadParameter(error.strerror or type(error).__name__) from None
    except orjson.JSONDecodeError as error:
        raise typer.BadParameter(f"no JSON at line {error.lineno}, column {error.colno}") from None


def body_of(state: str | None, noul: list[str], choice: list[str]) -> JsonValue:
    """The request that the options describe; a question's id is its text."""
    if state is None or not (noul or choice):
        raise typer.BadParameter("give a file, or --state with --noul or --choice")
    questions: dict[str, Any] = {text: {"type": "noul", "instructions": text} for text in noul}
    for options in choice:
        keys = [key.strip() for key in options.split(",")]
        questions[options] = {"type": "choice", "choices": keys}
    return {"state": state, "questions": questions}


def answers_view(response: dict[str, Any]) -> Table:
    """A row per answer; of a batch the entry's name stands before the id."""
    table = Table("question", "type", "answer", "probabilities")
    entries = response.get("states") or {"": response}
    for name, entry in entries.items():
        for id, answer in entry["answers"].items():
            spans = entry.get("spans", {}).get(id)
            table.add_row(
                Text(f"{name}: {id}" if name else id),
                Text(answer["type"]),
                Text(_short(answer)),
                Text(_spans(spans) if spans is not None else _probabilities(answer)),
            )
    return table


def _short(answer: dict[str, Any]) -> str:
    match answer["type"]:
        case "noul":
            return f"{answer['noul']:.3f}"
        case "choice":
            return f"{answer['choice']} (confidence {answer['confidence']:.3f})"
        case "score":
            return f"{answer['score']:.3f} (confidence {answer['confidence']:.3f})"
        case _:
            return f"{answer['error']}: {answer['message']}"


def _probabilities(answer: dict[str, Any]) -> str:
    found: dict[str, float] = answer.get("probabilities", {})
    return "\n".join(f"{key} {probability:.3f}" for key, probability in found.items())


def _spans(spans: list[dict[str, Any]]) -> str:
    return "\n".join(
        f"{s['label']} {s['start']}–{s['end']} {s['text']!r} {s['probability']:.3f}" for s in spans
    )
