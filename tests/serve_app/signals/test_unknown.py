"""Rules without an answer: UNK-1 to UNK-4, MRG-3, BUD-1."""

from __future__ import annotations

from typing import Any

import pytest

from models.questions.types import (
    Answer,
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.outcome import Truth
from tests.doubles.recipes import ROUTED, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

GUARDS = {"jailbreak": "preset:jailbreak", "pii": "preset:pii"}


def guarded(section: str, **rule: Any) -> dict[str, Any]:
    return {
        "signals": {section: [{"name": "guard", **rule}]},
        "decisions": [
            {
                "name": "blocked",
                "rules": {"conditions": [{"type": section, "name": "guard"}]},
                "plugins": [{"type": "fast_response", "message": "No."}],
            },
            {"name": "rest", **ROUTED},
        ],
    }


@pytest.mark.parametrize("error", AnswerError)
@pytest.mark.parametrize("section", GUARDS)
async def test_a_guard_without_an_answer_fails_closed(section: str, error: AnswerError) -> None:
    """UNK-3: for every reason; what is logged is there: rule, deployment and reason."""
    outcome = await routed(
        compiled(guarded(section)), ScriptedAsk({GUARDS[section]: ErrorAnswer(error)})
    )
    assert (outcome.decision, outcome.models) == ("blocked", ())
    (rule,) = outcome.rules
    assert rule.failed_closed
    assert (rule.verdict, rule.effective, rule.reason) == (Truth.UNKNOWN, Truth.TRUE, error)
    assert (rule.type, rule.name, rule.deployment) == (section, "guard", "primary")
    assert (rule.value, rule.margin) == (None, None)


@pytest.mark.parametrize("section", GUARDS)
async def test_a_guard_may_fail_open_where_it_says_so(section: str) -> None:
    """UNK-3"""
    outcome = await routed(compiled(guarded(section, on_unknown="no_match")), ScriptedAsk())
    assert outcome.decision == "rest"
    (rule,) = outcome.rules
    assert not rule.failed_closed
    assert (rule.verdict, rule.effective) == (Truth.UNKNOWN, Truth.FALSE)


@pytest.mark.parametrize("error", AnswerError)
async def test_safety_stays_unknown(error: AnswerError) -> None:
    """UNK-4"""
    outcome = await routed(
        compiled(guarded("safety")), ScriptedAsk({"preset:harm": ErrorAnswer(error)})
    )
    assert outcome.decision == "rest"
    (rule,) = outcome.rules
    assert (rule.verdict, rule.effective) == (Truth.UNKNOWN, Truth.UNKNOWN)


KEYS = ("easy", "medium", "hard")
NAN = float("nan")
MALFORMED: list[tuple[str, Answer]] = [
    ("jailbreak", ChoiceAnswer(("a", "b"), (0.5, 0.5))),
    ("jailbreak", NoulAnswer(NAN)),
    ("jailbreak", NoulAnswer(1.1)),
    ("jailbreak", NoulAnswer(-0.1)),
    ("jailbreak", NoulAnswer(float("inf"))),
    ("jailbreak", NoulAnswer("0.1")),  # type: ignore[arg-type]
    ("pii", NoulAnswer(0.1)),
    ("pii", SetAnswer(("PERSON",), (0.1,))),
    ("pii", SpanAnswer((Span("NOBODY", 0, 1, "x", 0.1),))),
    ("pii", SpanAnswer((Span("PERSON", 3, 3, "", 0.1),))),
    ("pii", SpanAnswer((Span("PERSON", -1, 3, "x", 0.1),))),
    ("pii", SpanAnswer((Span("PERSON", 0, 3, "x", NAN),))),
]


@pytest.mark.parametrize(("section", "answer"), MALFORMED, ids=str)
async def test_a_malformed_answer_is_never_guessed_from(section: str, answer: Answer) -> None:
    """UNK-1, UNK-3: it fails closed as ``invalid_model_output``."""
    outcome = await routed(compiled(guarded(section)), ScriptedAsk({GUARDS[section]: answer}))
    assert outcome.decision == "blocked"
    assert outcome.rules[0].reason is AnswerError.INVALID_MODEL_OUTPUT


CHOICES: list[Answer] = [
    NoulAnswer(0.9),
    ScoreAnswer(KEYS, (0.1, 0.1, 0.8)),
    ChoiceAnswer(("hard", "medium", "easy"), (0.8, 0.1, 0.1)),
    ChoiceAnswer(("medium", "hard"), (0.2, 0.8)),
    ChoiceAnswer(KEYS, (0.2, 0.8)),
    ChoiceAnswer(KEYS, (0.1, 0.1, 0.9)),
    ChoiceAnswer(KEYS, (-0.1, 0.1, 1.0)),
    ChoiceAnswer(KEYS, (NAN, 0.1, 0.9)),
    ChoiceAnswer((), ()),
]


@pytest.mark.parametrize("answer", CHOICES, ids=str)
async def test_a_malformed_choice_is_unknown(answer: Answer) -> None:
    """UNK-1"""
    known = {
        "signals": {"complexity": [{"name": "d"}]},
        "decisions": [
            {
                "name": "hard",
                "rules": {"conditions": [{"type": "complexity", "name": "d", "label": "hard"}]},
                **ROUTED,
            }
        ],
    }
    outcome = await routed(
        compiled(known, default_model="endless"), ScriptedAsk({"preset:complexity": answer})
    )
    assert outcome.decision is None
    assert outcome.rules[0].verdict is Truth.UNKNOWN
    assert outcome.rules[0].reason is AnswerError.INVALID_MODEL_OUTPUT


async def test_an_answer_that_is_missing_from_a_reply_is_unknown() -> None:
    from serve_app.asking.call import Call, Reply

    async def forgetful(call: Call) -> Reply:
        return Reply({})

    outcome = await routed(compiled(guarded("jailbreak")), forgetful)
    assert outcome.decision == "blocked"
    assert outcome.rules[0].reason is AnswerError.INVALID_MODEL_OUTPUT


async def test_a_failed_question_leaves_its_siblings_alone() -> None:
    """MRG-3"""
    known = {
        "signals": {"jailbreak": [{"name": "attack"}], "fact_check": [{"name": "facts"}]},
        "decisions": [
            {
                "name": "checked",
                "rules": {
                    "conditions": [
                        {"type": "fact_check", "name": "facts"},
                        {
                            "operator": "NOT",
                            "conditions": [{"type": "jailbreak", "name": "attack"}],
                        },
                    ]
                },
                **ROUTED,
            }
        ],
    }
    ask = ScriptedAsk(
        {"preset:jailbreak": 0.1, "preset:fact_check": ErrorAnswer(AnswerError.INVALID_INPUT)}
    )
    outcome = await routed(compiled(known, default_model="endless"), ask)
    verdicts = {rule.type: rule.verdict for rule in outcome.rules}
    assert verdicts == {"jailbreak": Truth.FALSE, "fact_check": Truth.UNKNOWN}
