"""Long inputs in a request: VIEW-1 to VIEW-3, SCAN-1 to SCAN-5, COV-1 to COV-4, SIG-3."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from models.questions.types import (
    Answer,
    AnswerError,
    ErrorAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.asking.call import Call, Reply, Timings
from serve_app.message import Message, Role, Turn
from serve_app.outcome import Outcome, Truth
from tests.doubles.recipes import ROUTED, compiled, deployments, routed
from tests.doubles.scripted_ask import calm

pytestmark = pytest.mark.looptime

WINDOW = 1_024
SMALL = {"routing_view": {"max_tokens": 256}, "scan_window": {"tokens": 256, "overlap": 16}}
"""Views and windows of 1,024 bytes."""

BLOCKED: dict[str, Any] = {
    "name": "blocked",
    "priority": 10,
    "rules": {"conditions": [{"type": "jailbreak", "name": "attack"}]},
    "plugins": [{"type": "fast_response", "message": "No."}],
}
PRIVATE: dict[str, Any] = {
    "name": "private",
    "priority": 5,
    "rules": {
        "conditions": [{"type": "pii", "name": "data"}, {"type": "domain", "name": "topic"}],
        "operator": "OR",
    },
    **ROUTED,
}
REST: dict[str, Any] = {"name": "rest", "priority": 1, "rules": {}, **ROUTED}
SIGNALS: dict[str, Any] = {
    "domains": [{"name": "topic", "labels": ["law"]}],
    "jailbreak": [{"name": "attack"}],
    "pii": [{"name": "data"}],
}


@dataclass
class ReadingAsk:
    """Answers by what it reads: a guard is sure of a text with its word, ``ATTACK`` or ``DATA``,
    and half sure of ``MAYBE``.

    ``sets``: label -> its word.
    ``takes_s``: how long a call takes, on the event loop's clock; ``fails``: which windows fail.
    """

    sets: Mapping[str, str] = field(default_factory=dict)
    takes_s: Callable[[Call], float] = lambda call: 0.0
    fails: Callable[[str], AnswerError | None] = lambda text: None
    calls: list[Call] = field(default_factory=list)
    out: int = 0
    most_out: int = 0
    cancelled: int = 0

    async def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        seconds = self.takes_s(call)
        try:
            if seconds:
                await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.out -= 1
        answers = {
            name: {id: self._answer(id, q, str(entry.state)) for id, q in entry.questions.items()}
            for name, entry in call.entries.items()
        }
        return Reply(answers, elapsed_ms=seconds * 1000, timings=Timings(0, 0, 1))

    def _answer(self, id: str, question: Question, text: str) -> Answer:
        error = self.fails(text)
        if error is not None:
            return ErrorAnswer(error)
        if id == "preset:jailbreak":
            return NoulAnswer(0.99 if "ATTACK" in text else 0.6 if "MAYBE" in text else 0.001)
        if question.type is QuestionType.SET:
            keys = tuple(option.key for option in question.options)
            return SetAnswer(
                keys, tuple(0.9 * (self.sets.get(k, " ") in text and k in self.sets) for k in keys)
            )
        if id == "preset:pii" and "DATA" in text:
            at = text.index("DATA")
            label = question.options[0].key
            return SpanAnswer((Span(label, at, at + 4, "DATA", 0.9),))
        return calm(question)

    @property
    def windows(self) -> list[str]:
        """The texts of the calls that ask guards alone."""
        return [
            entry.state["request"]
            for call in self.calls
            for entry in call.entries.values()
            if "preset:domain" not in entry.questions
        ]


def recipe(*decisions: dict[str, Any], signals: dict[str, Any] = SIGNALS, **settings: Any) -> Any:
    catalog = deployments("primary", **{**SMALL, **settings})
    return compiled(
        {"signals": signals, "decisions": list(decisions or (BLOCKED, PRIVATE, REST))},
        catalog=catalog,
    )


def coverage(outcome: Outcome) -> dict[str, str]:
    return {rule.type: str(rule.coverage) for rule in outcome.rules if rule.coverage is not None}


def text_of(windows: int, **words: int) -> str:
    """So many windows of harmless text, with words at bytes of it."""
    text = "harmless words and " * (windows * WINDOW // 19)
    for word, at in words.items():
        text = text[:at] + word + text[at + len(word) :]
    return text


async def test_a_short_input_is_one_call_as_before() -> None:
    """SIG-3, VIEW-3"""
    ask = ReadingAsk()
    outcome = await routed(recipe(), ask, "Hello")
    (call,) = ask.calls
    assert [entry.state for entry in call.entries.values()] == [{"request": "Hello"}]
    assert outcome.decision == "rest"
    assert coverage(outcome) == {}


async def test_guards_read_all_of_a_long_input_and_routing_questions_a_view() -> None:
    """VIEW-1, SCAN-1, SCAN-3, SIG-3: each window is a call, all its guards' questions in it"""
    ask = ReadingAsk()
    text = text_of(5)
    outcome = await routed(recipe(), ask, text)
    assert outcome.decision == "rest"
    assert coverage(outcome) == {"jailbreak": "full", "pii": "full"}
    assert outcome.warnings == ()
    routing = [call for call in ask.calls if "preset:domain" in call.entries["1"].questions]
    assert [list(call.entries["1"].questions) for call in routing] == [["preset:domain"]]
    shown = routing[0].entries["1"].state["request"]
    assert len(shown.encode()) <= WINDOW
    assert "tokens omitted" in shown
    windows = [call for call in ask.calls if call not in routing]
    assert {tuple(c.entries["1"].questions) for c in windows} == {
        ("preset:jailbreak", "preset:pii")
    }
    assert ask.windows[0] == text[-len(ask.windows[0]) :]
    assert ask.windows[1] == text[: len(ask.windows[1])]
    assert all(len(window) <= WINDOW for window in ask.windows)
    assert all(piece in text for piece in ask.windows)


@pytest.mark.parametrize("at", [0, 1_000, 2_500, 4_000])
async def test_an_attack_anywhere_refuses(at: int) -> None:
    """SCAN-4, SCAN-5"""
    outcome = await routed(recipe(), ReadingAsk(), text_of(5, ATTACK=at))
    assert outcome.fast is not None
    assert outcome.decision == "blocked"
    assert outcome.warnings == ()


async def test_a_match_that_refuses_ends_everything_at_once() -> None:
    """SCAN-5: what is out is cancelled, what waits is never sent, the other call too"""
    text = text_of(40)
    text = text[:-6] + "ATTACK"
    ask = ReadingAsk(takes_s=lambda call: 1.0 if ask.windows and ask.calls[0] is call else 9.0)
    loop = asyncio.get_running_loop()
    began = loop.time()
    outcome = await routed(recipe(), ask, text, clock=loop.time)
    assert outcome.fast is not None
    assert loop.time() - began == pytest.approx(1.0)
    assert ask.out == 0
    assert ask.cancelled == len(ask.calls) - 1
    assert len(ask.windows) == 4
    assert coverage(outcome) == {"jailbreak": "partial 1/43", "pii": "partial 1/43"}


async def test_a_match_that_refuses_nothing_lets_the_others_read_on() -> None:
    """SCAN-5: a decided rule is dropped from later windows"""
    ask = ReadingAsk()
    outcome = await routed(recipe(), ask, text_of(6)[:-4] + "DATA")
    assert outcome.decision == "private"
    assert coverage(outcome)["jailbreak"] == "full"
    asked = [tuple(c.entries["1"].questions) for c in ask.calls]
    assert asked.count(("preset:jailbreak",)) >= 3
    assert outcome.warnings == ("scan_partial",)


async def test_a_decision_before_the_refusing_one_keeps_the_scan_going() -> None:
    """SCAN-5: a match alone refuses only where no other decision stands before it"""
    first = {**PRIVATE, "priority": 20}
    ask = ReadingAsk()
    text = text_of(6)[:-6] + "ATTACK"
    outcome = await routed(recipe(BLOCKED, first, REST), ask, text)
    assert outcome.decision == "blocked"
    assert coverage(outcome)["pii"] == "full"


async def test_at_most_so_many_windows_are_out_at_once() -> None:
    """SCAN-3"""
    ask = ReadingAsk(takes_s=lambda call: 0.1)
    loop = asyncio.get_running_loop()
    settings = {"scan_window": {"tokens": 256, "overlap": 16, "max_parallel": 3}}
    await routed(recipe(BLOCKED, REST, **settings), ask, text_of(10), clock=loop.time)
    assert ask.most_out == 3


async def test_inputs_of_one_text_share_their_windows() -> None:
    """SCAN-3: rules that read the same input, whichever way"""
    signals = {**SIGNALS, "pii": [{"name": "data", "input": {"tool_results": True}}]}
    ask = ReadingAsk()
    await routed(recipe(signals=signals), ask, text_of(4))
    assert ("preset:jailbreak", "preset:pii") in {
        tuple(c.entries["1"].questions) for c in ask.calls
    }
    message = Message(text_of(4), tool_results=(text_of(2, DATA=500),))
    ask = ReadingAsk()
    outcome = await routed(recipe(signals=signals), ask, message)
    questions = {tuple(c.entries["1"].questions) for c in ask.calls}
    assert {("preset:jailbreak",), ("preset:pii",)} <= questions
    assert outcome.decision == "private"


async def test_a_guards_texts_are_joined_oldest_first() -> None:
    """SCAN-1: history, previous turns, tool results, request"""
    signals = {
        "jailbreak": [
            {"name": "attack", "input": {"history": True, "tool_results": True}},
        ]
    }
    message = Message(
        "r" * 900,
        earlier=(Turn(Role.SYSTEM, "s" * 500), Turn(Role.USER, "u" * 500)),
        tool_results=("t" * 500,),
    )
    ask = ReadingAsk()
    await routed(recipe(BLOCKED, REST, signals=signals), ask, message)
    whole = "\n".join(["s" * 500, "u" * 500, "t" * 500, "r" * 900])
    assert all(window in whole for window in ask.windows)
    assert whole.startswith(ask.windows[1])
    assert {"s", "u", "t", "r"} <= set("".join(ask.windows))


async def test_a_deadline_judges_by_the_windows_read_and_says_so() -> None:
    """COV-1, COV-4: a request that is routed warns"""
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(recipe(), ask, text_of(40), clock=loop.time, deadline_s=10.5)
    assert outcome.decision == "rest"
    assert outcome.warnings == ("scan_partial",)
    read = coverage(outcome)["jailbreak"]
    assert read == "partial 36/43"


async def test_too_little_read_fails_closed() -> None:
    """COV-2"""
    signals = {"jailbreak": [{"name": "attack", "min_coverage": 0.9}]}
    ask = ReadingAsk(takes_s=lambda call: 1.0)
    loop = asyncio.get_running_loop()
    outcome = await routed(
        recipe(BLOCKED, REST, signals=signals), ask, text_of(40), clock=loop.time, deadline_s=5.0
    )
    (attack,) = outcome.rules
    assert (attack.verdict, attack.effective) == (Truth.UNKNOWN, Truth.TRUE)
    assert attack.reason is AnswerError.DEADLINE_EXCEEDED
    assert outcome.fast is not None


async def test_without_a_window_read_guards_fail_closed_and_safety_is_unknown() -> None:
    """COV-3, UNK-3, UNK-4"""
    signals = {"jailbreak": [{"name": "attack"}], "safety": [{"name": "harm"}]}
    harmful = {
        "name": "harmful",
        "rules": {"conditions": [{"type": "safety", "name": "harm"}]},
        **ROUTED,
    }
    ask = ReadingAsk(fails=lambda text: AnswerError.UNAVAILABLE)
    outcome = await routed(recipe(BLOCKED, harmful, REST, signals=signals), ask, text_of(3))
    attack, harm = outcome.rules
    assert outcome.fast is not None
    assert (attack.effective, harm.effective) == (Truth.TRUE, Truth.UNKNOWN)
    assert coverage(outcome) == {"jailbreak": "none", "safety": "none"}


async def test_a_view_keeps_what_a_rule_reads_beside_the_request() -> None:
    """VIEW-2: and a question that asks for all of it gets all of it"""
    question = {"type": "noul", "instructions": "Is it long?"}
    signals = {
        "domains": [{"name": "topic", "labels": ["law"], "input": {"previous_turns": 2}}],
        "systemone": [
            {"name": "all", "question": question},
            {"name": "some", "question": question | {"instructions": "?"}, "coverage": "truncate"},
        ],
    }
    decision = {
        "name": "d",
        "rules": {
            "operator": "OR",
            "conditions": [
                {"type": "domain", "name": "topic"},
                {"type": "systemone", "name": "all"},
                {"type": "systemone", "name": "some"},
            ],
        },
        **ROUTED,
    }
    text = text_of(3)
    message = Message(text, earlier=(Turn(Role.USER, "old"), Turn(Role.ASSISTANT, "newer")))
    ask = ReadingAsk()
    await routed(recipe(decision, REST, signals=signals), ask, message)
    (call,) = ask.calls
    by_question = {id: entry.state for entry in call.entries.values() for id in entry.questions}
    assert by_question["systemone:all"] == {"request": text}
    assert len(by_question["systemone:some"]["request"]) <= WINDOW
    assert by_question["preset:domain"]["previous_turns"] == []
    assert len(call.entries) == 3


SSN_REFUSED: dict[str, Any] = {
    "name": "number",
    "priority": 10,
    "rules": {"conditions": [{"type": "safety", "name": "harm", "label": "violence"}]},
    "plugins": [{"type": "fast_response", "message": "No."}],
}


async def test_a_label_that_refuses_ends_the_scan_though_another_is_open() -> None:
    """SCAN-5: at once, whatever other conditions on the rule still wait for"""
    signals = {"safety": [{"name": "harm", "labels": ["violence", "hate"]}]}
    other = {
        "name": "other",
        "priority": 5,
        "rules": {"conditions": [{"type": "safety", "name": "harm", "label": "hate"}]},
        **ROUTED,
    }
    ask = ReadingAsk(sets={"violence": "ATTACK"})
    known = recipe(SSN_REFUSED, other, REST, signals=signals)
    outcome = await routed(known, ask, text_of(30)[:-6] + "ATTACK")
    assert outcome.decision == "number"
    assert len(ask.windows) <= 4


async def test_a_projection_reads_all_windows_and_no_band_refuses_before() -> None:
    """CFG-9, SCAN-4, SCAN-5: what unread windows may take back is no refusal"""
    signals = {"jailbreak": [{"name": "attack"}]}
    projections = {
        "scores": [
            {
                "name": "risk",
                "inputs": [{"type": "jailbreak", "name": "attack", "weight": 1.0}],
            }
        ],
        "mappings": [
            {
                "name": "bands",
                "source": "risk",
                "outputs": [
                    {"name": "suspicious", "gte": 0.5, "lt": 0.8},
                    {"name": "attack", "gte": 0.8},
                ],
            }
        ],
    }
    suspicious = {
        "name": "suspicious",
        "priority": 10,
        "rules": {"conditions": [{"type": "projection", "name": "suspicious"}]},
        "plugins": [{"type": "fast_response", "message": "No."}],
    }
    attack = {
        "name": "attack",
        "priority": 5,
        "rules": {"conditions": [{"type": "projection", "name": "attack"}]},
        **ROUTED,
    }
    catalog = deployments("primary", **SMALL)
    known = compiled(
        {
            "signals": signals,
            "projections": projections,
            "decisions": [suspicious, attack, REST],
        },
        catalog=catalog,
    )
    text = text_of(10, ATTACK=2_500)[:-5] + "MAYBE"
    outcome = await routed(known, ReadingAsk(), text)
    assert outcome.decision == "attack"
    assert coverage(outcome) == {"jailbreak": "full"}


@pytest.mark.parametrize("error", [AnswerError.OVERLOADED, AnswerError.NOT_READY])
async def test_a_model_without_room_is_asked_no_further_windows(error: AnswerError) -> None:
    """COV-1, COV-3: it would refuse them too"""
    ask = ReadingAsk(fails=lambda text: error)
    outcome = await routed(recipe(BLOCKED, REST), ask, text_of(40))
    assert len(ask.windows) <= 4
    assert outcome.fast is not None
    attack = next(rule for rule in outcome.rules if rule.type == "jailbreak")
    assert attack.reason is error


async def test_every_window_is_among_the_calls_that_were_made() -> None:
    """API-9, COST-1"""
    ask = ReadingAsk()
    outcome = await routed(recipe(BLOCKED, REST), ask, text_of(5))
    assert len(outcome.calls) == len(ask.calls)
    assert {call.form for call in outcome.calls} == {"standard"}


async def test_a_request_that_is_given_up_leaves_no_call_behind() -> None:
    """BUD-4"""
    ask = ReadingAsk(takes_s=lambda call: 5.0)
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(routed(recipe(), ask, text_of(10), clock=loop.time))
    await asyncio.sleep(1.0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert ask.out == 0
    assert ask.cancelled == len(ask.calls) == 5


async def test_a_rules_own_bound_is_no_other_rules() -> None:
    """BUD-3, SIG-5: two rules that share a question"""
    signals = {
        "jailbreak": [
            {"name": "hasty", "timeout_ms": 100, "on_unknown": "no_match"},
            {"name": "attack", "predicate": {"gte": 0.6}},
        ]
    }
    hasty = {
        "name": "hasty",
        "rules": {"conditions": [{"type": "jailbreak", "name": "hasty"}]},
        **ROUTED,
    }
    ask = ReadingAsk(takes_s=lambda call: 0.3)
    loop = asyncio.get_running_loop()
    known = recipe(BLOCKED, hasty, REST, signals=signals)
    outcome = await routed(known, ask, text_of(4), clock=loop.time)
    found = {rule.name: (rule.verdict, str(rule.coverage)) for rule in outcome.rules}
    assert found["hasty"] == (Truth.UNKNOWN, "none")
    assert found["attack"] == (Truth.FALSE, "full")


async def test_many_empty_turns_are_no_short_state() -> None:
    """SIZE-1: a model reads what stands around a text too"""
    signals = {"domains": [{"name": "topic", "labels": ["law"], "input": {"history": True}}]}
    decision = {
        "name": "d",
        "rules": {"conditions": [{"type": "domain", "name": "topic"}]},
        **ROUTED,
    }
    ask = ReadingAsk()
    turns = tuple(Turn(Role.USER, "") for _ in range(10_000))
    await routed(recipe(decision, REST, signals=signals), ask, Message("Hello", earlier=turns))
    (call,) = ask.calls
    assert len(call.entries["1"].state["history"]) < 50
