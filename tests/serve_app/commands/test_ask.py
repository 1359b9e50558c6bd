"""``ask``: S1-5, S1-10, S1-11, S1-12."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from models.ask import ask
from serve_app.commands.ask import answers_view, body_of, read_body
from tests.doubles.engines import FixedTimeEngine


def shown(response: dict[str, Any]) -> str:
    console = Console(file=StringIO(), width=120, color_system=None)
    console.print(answers_view(response))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_options_describe_a_request() -> None:
    assert body_of("The sky.", ["Is it blue?"], ["day, night"]) == {
        "state": "The sky.",
        "questions": {
            "Is it blue?": {"type": "noul", "instructions": "Is it blue?"},
            "day, night": {"type": "choice", "choices": ["day", "night"]},
        },
    }


@pytest.mark.parametrize(("state", "noul"), [(None, ["Is it?"]), ("x", []), (None, [])])
def test_a_request_needs_a_state_and_a_question(state: str | None, noul: list[str]) -> None:
    with pytest.raises(typer.BadParameter, match="--state"):
        body_of(state, noul, [])


def test_a_file_is_read_and_its_mistakes_are_placed(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"state": "x"}')
    bad.write_text('{\n"state": NaN}')
    assert read_body(good) == {"state": "x"}
    with pytest.raises(typer.BadParameter, match="line 2"):
        read_body(bad)
    with pytest.raises(typer.BadParameter, match="No such file"):
        read_body(tmp_path / "none.json")


def test_the_answers_of_an_engine_are_shown() -> None:
    response = ask(FixedTimeEngine(0), body_of("The sky.", ["Is it blue?"], []))
    assert f"{response['answers']['Is it blue?']['noul']:.3f}" in shown(response)


def test_every_kind_of_answer_is_shown() -> None:
    """Entries of a batch by name."""
    answers = {
        "c": {
            "type": "choice",
            "choice": "x",
            "probabilities": {"x": 0.75, "y": 0.25},
            "confidence": 0.5,
        },
        "s": {"type": "score", "score": 1.25, "probabilities": {"0": 0.75}, "confidence": 0.125},
        "e": {"type": "error", "error": "invalid_question", "message": "no options"},
        "p": {"type": "noul", "noul": 0.9},
    }
    spans = {"p": [{"label": "PERSON", "start": 0, "end": 2, "text": "Al", "probability": 0.9}]}
    text = shown({"states": {"1": {"answers": answers, "spans": spans}, "2": {"answers": {}}}})
    assert "1: c" in text
    assert "x (confidence 0.500)" in text
    assert "y 0.250" in text
    assert "1.250 (confidence 0.125)" in text
    assert "invalid_question: no options" in text
    assert "PERSON 0–2 'Al' 0.900" in text
