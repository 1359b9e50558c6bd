"""What a process remembers of the questions it reads is bounded, whoever asks them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from models.lru import Lru
from models.questions import parse, types
from models.questions.parse import client_question, parse_question
from models.questions.types import Option, Question, QuestionType

Traced = Callable[[], int]

RECEIVED_BYTES = 32 * 2**20
REMEMBERED_BYTES = 16 * 2**20


@pytest.fixture(autouse=True)
def _nothing_is_known_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((types, "_RECEIVED"), (parse, "_REMEMBERED")):
        lru = getattr(module, name)
        empty: Lru[bytes, Question] = Lru(lru._most_entries, lru._most_bytes, lru._largest_bytes)
        monkeypatch.setattr(module, name, empty)


def wide(number: int, size: int) -> str:
    """Four bytes a character in memory, and those of its UTF-8 beside them."""
    return f"{number}" + "\U0001f600" + "a" * size


FILLS: dict[str, Callable[[int], dict[str, Any]]] = {
    "long": lambda i: {"type": "noul", "instructions": f"{i}" + "a" * 15_000},
    "wide": lambda i: {"type": "noul", "instructions": wide(i, 15_000)},
    "options": lambda i: {"type": "choice", "criteria": [f"{i}.{j}" for j in range(255)]},
    "described": lambda i: {
        "type": "set",
        "criteria": {f"{i}.{j}": wide(j, 20) for j in range(255)},
    },
    "nested": lambda i: {"type": "noul", "instructions": nested(i)},
    "short": lambda i: {"type": "noul", "instructions": f"{i}"},
}


COUNTS = {"long": 1100, "wide": 500, "options": 50, "described": 50, "nested": 100, "short": 1100}
"""Long and wide texts fill more than there is room for."""


def nested(number: int) -> list[Any]:
    """Written in few bytes and long as a text: each line is indented by its depth."""
    inner: list[Any] = [f"{number}"]
    for _ in range(150):
        inner = ["a", inner]
    return inner


@pytest.mark.parametrize(("fill", "count"), COUNTS.items())
def test_what_clients_ask_is_remembered_within_its_bytes(
    fill: str, count: int, traced: Traced
) -> None:
    before = traced()
    for i in range(count):
        question = client_question(FILLS[fill](i))
        question.digest()
        pickle.dumps(question)
    assert client_question(FILLS[fill](count - 1)) is question
    assert parse._REMEMBERED.memory <= REMEMBERED_BYTES
    assert traced() - before < parse._REMEMBERED.memory + 2**20


@pytest.mark.parametrize(("fill", "count"), COUNTS.items())
def test_what_is_received_is_remembered_within_its_bytes(
    fill: str, count: int, traced: Traced
) -> None:
    """SRV-2"""
    before = traced()
    for i in range(count):
        written = pickle.dumps(parse_question(FILLS[fill](i), client=True))
        question = pickle.loads(written)
        question.digest()
        assert pickle.dumps(question) == written
    assert pickle.loads(written) is question
    assert types._RECEIVED.memory <= RECEIVED_BYTES
    assert traced() - before < types._RECEIVED.memory + 2**20


def test_a_question_of_megabytes_is_read_rightly_and_not_remembered(traced: Traced) -> None:
    before = traced()
    for i in range(20):
        raw = {"type": "choice", "criteria": [f"{i}" + " " * 1_000_000, "b"]}
        question = client_question(raw)
        received = pickle.loads(pickle.dumps(question))
        assert received == question == parse_question(raw, client=True)
        assert received.digest() == question.digest()
    del raw, question, received
    assert traced() - before < 2**20


def test_a_question_of_255_described_options_is_received_as_one_instance() -> None:
    """LIM-1, SRV-10"""
    options = tuple(Option(f"tool {i}", "What the tool does. " * 5) for i in range(255))
    question = Question(QuestionType.CHOICE, "Which tool?", options)
    written = pickle.dumps(question)
    assert pickle.loads(written) is pickle.loads(written)
