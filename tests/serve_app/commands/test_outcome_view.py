"""The tables of ``try``: API-9 for a terminal."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from models.questions.types import AnswerError, ErrorAnswer
from serve_app.commands.outcome_view import outcome_view
from serve_app.outcome import Outcome
from tests.doubles.long_inputs import ReadingAsk, recipe, text_of
from tests.doubles.recipes import compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

RECIPE: dict[str, Any] = {
    "signals": {
        "jailbreak": [{"name": "attack"}],
        "domains": [{"name": "math", "labels": ["math"]}],
        "complexity": [{"name": "difficulty"}],
        "context": [{"name": "long", "min_tokens": 4000}],
    },
    "decisions": [
        {
            "name": "blocked",
            "priority": 1000,
            "rules": {"conditions": [{"type": "jailbreak", "name": "attack"}]},
            "plugins": [{"type": "fast_response", "message": "I can't help with that."}],
        },
        {
            "name": "hard-math",
            "priority": 200,
            "rules": {
                "conditions": [
                    {"type": "domain", "name": "math"},
                    {"type": "complexity", "name": "difficulty", "label": "hard"},
                    {"operator": "NOT", "conditions": [{"type": "context", "name": "long"}]},
                ]
            },
            "modelRefs": [{"model": "small"}, {"model": "large"}],
            "algorithm": {"type": "systemone"},
        },
        {"name": "rest", "modelRefs": [{"model": "small"}]},
    ],
}


def shown(outcome: Outcome) -> str:
    console = Console(file=StringIO(), width=140, color_system=None)
    console.print(outcome_view(outcome))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def row(text: str, start: str) -> list[str]:
    """The cells of the table row whose first cell is ``start``."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        if cells[0] == start:
            return cells
    raise AssertionError(f"no row {start} in\n{text}")


async def test_it_shows_rules_trees_nearest_changes_and_calls() -> None:
    ask = ScriptedAsk(
        {
            "preset:jailbreak": 0.1,
            "preset:domain": "math",
            "preset:complexity": {"hard": 0.7},
            "selector": {"small": 0.3, "large": 0.7},
        },
        takes_s={"primary": 0.001},
    )
    text = shown(await routed(compiled(RECIPE), ask))
    assert "from large" in text
    assert "large 0.700, small 0.300" in text
    assert row(text, "jailbreak:attack") == [
        "jailbreak:attack",
        "0.100",
        "0.500",
        "-0.400",
        "no match",
        "preset:jailbreak",
        "primary",
    ]
    assert row(text, "complexity:difficulty")[4] == "match, hard"
    assert row(text, "context:long")[:4] == ["context:long", "0.000", "4000", "-4000"]
    assert row(text, "1000") == [
        "1000",
        "blocked",
        "no match",
        "jailbreak:attack 0.100 → 0.500 (+0.400)",
    ]
    assert row(text, "200")[2] == "taken"
    assert "NOT  match" in text
    assert "context:long  no match" in text
    assert "always" in text
    assert row(text, "signals")[1:4] == [
        "primary",
        "standard",
        "1: preset:domain, preset:jailbreak, preset:complexity",
    ]
    assert row(text, "selector")[3:] == ["1: selector", "1.0", "0.1", "0.2", "0.3"]


async def test_it_shows_why_a_guard_failed_closed() -> None:
    """UNK-3"""
    ask = ScriptedAsk({"preset:jailbreak": ErrorAnswer(AnswerError.OVERLOADED)})
    text = shown(await routed(compiled(RECIPE), ask))
    assert row(text, "jailbreak:attack")[4] == "unknown, overloaded: counts as match"
    assert "its own, with status 200: I can't help with that." in text


async def test_it_shows_an_error_and_that_nothing_was_asked() -> None:
    text = shown(await routed(compiled({}), ScriptedAsk()))
    assert "error no_decision: no decision of recipe default matched" in text
    assert "No call was made." in text


async def test_names_are_shown_as_they_are_written() -> None:
    """Square brackets are no markup."""
    known = {"decisions": [{"name": "[red]x[/red]", "modelRefs": [{"model": "small"}]}]}
    assert "[red]x[/red]" in shown(await routed(compiled(known), ScriptedAsk()))


async def test_a_guard_that_read_windows_says_how_many_and_they_are_one_line() -> None:
    """COV-4, API-9"""
    outcome = await routed(recipe(), ReadingAsk(), text_of(6)[:-4] + "DATA")
    text = shown(outcome)
    assert "match, read partial 1/7" in row(text, "pii:data")
    assert "no match, read full" in row(text, "jailbreak:attack")
    lines = [line for line in text.splitlines() if "│ signals " in line]
    tail, others, view = lines
    assert "preset:jailbreak, preset:pii" in tail
    assert "6 times" in others
    assert "preset:pii" not in others  # the tail decided it
    assert "preset:domain" in view
