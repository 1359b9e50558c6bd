"""``calls.yaml`` as typed values, and the calls that are made in the form it writes them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

from models.questions.presets import PRESETS
from models.questions.types import Option, Question, QuestionType
from serve_app.asking.call import Call

TABLE: Final = Path(__file__).with_name("calls.yaml")

WAITS_S: Final = {"signals": 45.0, "selector": 1.0}
"""How long a stage's call is waited for where the table says nothing (BUD-3)."""

_OPTIONS_ARE: Final = {
    QuestionType.NOUL: "choices",
    QuestionType.CHOICE: "choices",
    QuestionType.SCORE: "levels",
    QuestionType.SET: "labels",
    QuestionType.SPAN: "labels",
}


class Part(BaseModel):
    """A mapping of the table: a key that is not known is a mistake in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Entry(Part):
    """``questions``: id -> what is asked, in order."""

    state: dict[str, Any]
    questions: dict[str, Any] = Field(min_length=1)


class Head(Part):
    stage: Literal["signals", "selector"] = "signals"
    deployment: str = "primary"
    timeout_s: float | None = None


class StandardCall(Head, Entry):
    form: Literal["standard"]

    @property
    def entries(self) -> dict[str, Entry]:
        return {"1": Entry(state=self.state, questions=self.questions)}


class BatchCall(Head):
    form: Literal["batch"]
    states: dict[str, Entry] = Field(min_length=2)

    @property
    def entries(self) -> dict[str, Entry]:
        return self.states


class Request(Part):
    """``chat``: members of its Chat body; ``text`` is its one user message instead. ``answers``:
    what the models say, by question id, in the short forms of ``ScriptedAsk``. ``decision`` and
    ``model``: what is taken, checked where it is written.
    """

    text: str | None = None
    chat: dict[str, Any] = {}
    headers: dict[str, str] = {}
    deadline_s: float | None = None
    answers: dict[str, float | str | dict[str, float]] = {}
    calls: list[StandardCall | BatchCall]
    decision: str | None = None
    model: str | None = None

    @property
    def body(self) -> dict[str, Any]:
        return {
            "model": "auto",
            "messages": [{"role": "user", "content": self.text}],
            **self.chat,
        }


class Case(Part):
    """A router's file, in excerpts, and requests to it. ``card``: fields of the local models'."""

    name: str
    covers: list[str] = Field(min_length=1)
    card: dict[str, Any] = {}
    catalog: dict[str, Any] = {}
    signals: dict[str, list[dict[str, Any]]] = {}
    projections: dict[str, Any] = {}
    decisions: list[dict[str, Any]]
    requests: list[Request] = Field(min_length=1)

    def backwards(self) -> Case:
        """The case with the last rule of the last section first."""
        sections = reversed(self.signals.items())
        return self.model_copy(update={"signals": {s: rules[::-1] for s, rules in sections}})

    def document(self) -> dict[str, Any]:
        """The router's whole file."""
        shared = _TABLE["shared"]
        recipe = {
            "name": "default",
            "signals": self.signals,
            "projections": self.projections,
            "decisions": self.decisions,
        }
        catalog = shared["global"]["model_catalog"] | self.catalog
        return {**shared, "recipes": [recipe], "global": {"model_catalog": catalog}}


def written(call: StandardCall | BatchCall) -> dict[str, Any]:
    """A call of the table, its defaults filled in."""
    waits_s = WAITS_S[call.stage] if call.timeout_s is None else call.timeout_s
    return {
        "stage": call.stage,
        "form": call.form,
        "deployment": call.deployment,
        "timeout_s": waits_s,
        "entries": {name: entry.model_dump() for name, entry in call.entries.items()},
    }


def made(stage: str, form: str, call: Call) -> dict[str, Any]:
    """A call as ``written`` would have it."""
    return {
        "stage": stage,
        "form": form,
        "deployment": call.deployment,
        "timeout_s": call.timeout_s,
        "entries": {
            name: {
                "state": entry.state,
                "questions": {id: described(q) for id, q in entry.questions.items()},
            }
            for name, entry in call.entries.items()
        },
    }


def described(question: Question) -> str | dict[str, Any]:
    """``<type> <preset>`` of a question that is wholly a preset's; of any other all its text."""
    if question == PRESETS.get(question.preset or "", {}).get(question.type):
        return f"{question.type} {question.preset}"
    options = [_option(question, option) for option in question.options]
    return {
        "type": question.type.value,
        "instructions": question.instructions,
        **({_OPTIONS_ARE[question.type]: options} if options else {}),
    }


def _option(question: Question, option: Option) -> str | dict[str, str]:
    if question.type is QuestionType.SCORE:
        return option.text or ""
    return option.key if option.text is None else {"key": option.key, "description": option.text}


_TABLE: Final = YAML(typ="safe", pure=True).load(TABLE.read_text("utf-8"))
CASES: Final = [Case.model_validate(case) for case in _TABLE["cases"]]
