"""Every model-backed type of rule, by the table of CFG-4; CFG-5, SIG-5, SIG-6."""

from __future__ import annotations

from typing import Any

import pytest

from models.questions.presets import preset_question
from models.questions.types import Question, QuestionType
from serve_app.message import Message, Role, Turn
from serve_app.outcome import Outcome, RuleOutcome, Truth
from tests.doubles.recipes import ROUTED, card, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

LATER = Message("And then?", earlier=(Turn(Role.USER, "Hi"), Turn(Role.ASSISTANT, "Hello")))
OWN: dict[str, dict[str, Any]] = {
    "noul": {"type": "noul", "instructions": "Is it?"},
    "choice": {"type": "choice", "instructions": "Which?", "choices": ["x", "y", "z"]},
    "score": {"type": "score", "instructions": "How?", "levels": ["low", "middle", "high"]},
    "set": {"type": "set", "instructions": "Which apply?", "labels": ["x", "y"]},
    "span": {"type": "span", "instructions": "Where?", "labels": ["x", "y"]},
}


async def asked(
    section: str,
    rule: dict[str, Any],
    answer: Any,
    *,
    type: str | None = None,
    leaf: dict[str, Any] | None = None,
    **cards: Any,
) -> tuple[Outcome, Truth, RuleOutcome]:
    """The outcome, the truth of the one condition, and the rule's own outcome."""
    type = type or section
    known = {
        "signals": {section: [{"name": "it", **rule}]},
        "decisions": [
            {
                "name": "d",
                "rules": {"conditions": [{"type": type, "name": "it", **(leaf or {})}]},
                **ROUTED,
            }
        ],
    }
    recipe = compiled(known, default_model="endless", cards={"primary": card(**cards)})
    ask = ScriptedAsk()
    id = f"systemone:{'it'}" if type == "systemone" else None
    plan = recipe.signals.later_turn[0].entries[0][1]
    ask.script = {id or next(iter(plan)): answer}
    outcome = await routed(recipe, ask, LATER)
    return outcome, outcome.decisions[0].tree.children[0].truth, outcome.rules[0]


M, N = Truth.TRUE, Truth.FALSE

CASES: list[tuple[str, str, dict[str, Any], Any, dict[str, Any], Truth]] = [
    # domains: the winner is one of labels and its probability meets the predicate
    ("domains", "domain", {"labels": ["math"]}, {"math": 0.6}, {}, M),
    ("domains", "domain", {"labels": ["math"]}, {"math": 0.45}, {}, N),
    ("domains", "domain", {"labels": ["math"]}, {"law": 0.6}, {}, N),
    ("domains", "domain", {"labels": ["math", "law"]}, {"law": 0.6}, {}, M),
    ("domains", "domain", {"labels": ["math"], "predicate": {"gte": 0.4}}, {"math": 0.45}, {}, M),
    (
        "domains",
        "domain",
        {"labels": ["math"], "predicate": {"gte": 0.1}},
        {"law": 0.5, "math": 0.4},
        {},
        N,
    ),
    ("domains", "domain", {}, {"law": 0.6}, {}, M),
    ("domains", "domain", {}, {"law": 0.6}, {"label": "law"}, M),
    ("domains", "domain", {}, {"law": 0.6}, {"label": "math"}, N),
    ("domains", "domain", {}, {"law": 0.6}, {"predicate": {"gte": 0.7}}, N),
    # nouls: P meets the predicate
    ("jailbreak", "jailbreak", {}, 0.5, {}, M),
    ("jailbreak", "jailbreak", {}, 0.4999, {}, N),
    ("jailbreak", "jailbreak", {"predicate": {"gt": 0.5}}, 0.5, {}, N),
    ("jailbreak", "jailbreak", {}, 0.6, {"predicate": {"gte": 0.7}}, N),
    ("fact_check", "fact_check", {"predicate": {"lt": 0.2}}, 0.1, {}, M),
    ("fact_check", "fact_check", {"predicate": {"gte": 0.2, "lte": 0.4}}, 0.5, {}, N),
    ("fact_check", "fact_check", {"predicate": {"gte": 0.2, "lte": 0.4}}, 0.3, {}, M),
    # safety: a noul, or a set of harms
    ("safety", "safety", {}, 0.7, {}, M),
    ("safety", "safety", {"labels": ["weapons", "hate"]}, {"hate": 0.7}, {}, M),
    ("safety", "safety", {"labels": ["weapons", "hate"]}, {"privacy": 0.9, "hate": 0.3}, {}, N),
    ("safety", "safety", {"labels": ["weapons", "hate"]}, {"hate": 0.7}, {"label": "weapons"}, N),
    # pii: a span whose label is in labels
    ("pii", "pii", {}, {"PERSON": 0.8}, {}, M),
    ("pii", "pii", {}, {}, {}, N),
    ("pii", "pii", {"labels": ["US_SSN"]}, {"PERSON": 0.8}, {}, N),
    ("pii", "pii", {"labels": ["US_SSN", "PERSON"]}, {"PERSON": 0.8}, {}, M),
    ("pii", "pii", {}, {"PERSON": 0.8, "AGE": 0.2}, {"label": "AGE"}, N),
    # complexity, modality: the condition's label is the winner
    ("complexity", "complexity", {}, {"hard": 0.4, "easy": 0.3}, {"label": "hard"}, M),
    ("complexity", "complexity", {}, {"hard": 0.4, "easy": 0.5}, {"label": "hard"}, N),
    (
        "complexity",
        "complexity",
        {"predicate": {"gte": 0.5}},
        {"hard": 0.4, "easy": 0.3},
        {"label": "hard"},
        N,
    ),
    ("modality", "modality", {}, {"image": 0.4, "text": 0.35}, {"label": "image"}, M),
    ("modality", "modality", {}, {"image": 0.4, "text": 0.35}, {"label": "both"}, N),
    # as domains
    ("user_feedbacks", "user_feedback", {"labels": ["wrong_answer"]}, "wrong_answer", {}, M),
    ("user_feedbacks", "user_feedback", {"labels": ["wrong_answer"]}, "satisfied", {}, N),
    ("turn_relation", "turn_relation", {"labels": ["correction"]}, "correction", {}, M),
    (
        "turn_relation",
        "turn_relation",
        {"labels": ["correction"]},
        {"correction": 0.3, "repeat": 0.2},
        {},
        N,
    ),
    # systemone, by its question's type
    ("systemone", "systemone", {"question": OWN["noul"]}, 0.5, {}, M),
    ("systemone", "systemone", {"question": OWN["noul"], "predicate": {"gte": 0.7}}, 0.5, {}, N),
    ("systemone", "systemone", {"question": OWN["noul"] | {"threshold": 0.3}}, 0.4, {}, M),
    ("systemone", "systemone", {"question": OWN["score"], "predicate": {"gte": 1.5}}, 1.5, {}, M),
    ("systemone", "systemone", {"question": OWN["score"], "predicate": {"gte": 1.5}}, 1.4, {}, N),
    (
        "systemone",
        "systemone",
        {"question": OWN["choice"]},
        {"x": 0.4, "y": 0.3},
        {"label": "x"},
        M,
    ),
    (
        "systemone",
        "systemone",
        {"question": OWN["choice"]},
        {"x": 0.4, "y": 0.3},
        {"label": "y"},
        N,
    ),
    (
        "systemone",
        "systemone",
        {"question": OWN["choice"], "predicate": {"gte": 0.5}},
        {"x": 0.4, "y": 0.3},
        {"label": "x"},
        N,
    ),
    ("systemone", "systemone", {"question": OWN["set"]}, {"x": 0.6}, {"label": "x"}, M),
    ("systemone", "systemone", {"question": OWN["set"]}, {"x": 0.6}, {"label": "y"}, N),
    ("systemone", "systemone", {"question": OWN["span"]}, {"x": 0.6}, {}, M),
    ("systemone", "systemone", {"question": OWN["span"]}, {"x": 0.4}, {}, N),
    ("systemone", "systemone", {"question": OWN["span"]}, {"x": 0.6}, {"label": "y"}, N),
]


@pytest.mark.parametrize(("section", "type", "rule", "answer", "leaf", "truth"), CASES, ids=str)
async def test_when_a_condition_matches(
    section: str, type: str, rule: dict[str, Any], answer: Any, leaf: dict[str, Any], truth: Truth
) -> None:
    """CFG-4"""
    outcome, found, _ = await asked(section, rule, answer, type=type, leaf=leaf)
    assert found is truth
    assert outcome.decision == ("d" if truth is M else None)


async def test_a_rule_tells_its_figures() -> None:
    """API-9: value, threshold, margin, verdict, question id and deployment."""
    _, _, rule = await asked("jailbreak", {}, 0.7)
    assert (rule.value, rule.threshold, rule.verdict) == (0.7, 0.5, M)
    assert rule.margin == pytest.approx(0.2)
    assert (rule.question_id, rule.deployment) == ("preset:jailbreak", "primary")
    assert not rule.failed_closed


async def test_a_labelled_choice_tells_its_labels_probability() -> None:
    """Its value is that of the likeliest of its labels, its option the winner of all."""
    rule = (await asked("domains", {"labels": ["math"]}, {"law": 0.6, "math": 0.3}, type="domain"))[
        2
    ]
    assert (rule.value, rule.option, rule.labelled, rule.verdict) == (0.3, "law", True, N)
    assert rule.margin == pytest.approx(-0.2)


async def test_a_choice_without_labels_matches_with_its_winner() -> None:
    """HDR-2: told as ``type:rule:option``."""
    rule = (await asked("complexity", {}, {"hard": 0.6}, leaf={"label": "easy"}))[2]
    assert (rule.option, rule.value, rule.threshold, rule.margin) == ("hard", 0.6, None, None)
    assert (rule.verdict, rule.labelled) == (M, False)


@pytest.mark.parametrize(
    ("predicate", "value", "threshold"),
    [
        ({"gte": 0.2, "lte": 0.6}, 0.3, 0.2),
        ({"gte": 0.2, "lte": 0.6}, 0.5, 0.6),
        ({"gte": 0.2, "lte": 0.6}, 0.1, 0.2),
        ({"gte": 0.2, "gt": 0.4}, 0.1, 0.4),
    ],
)
async def test_the_threshold_told_is_the_bound_that_decides(
    predicate: dict[str, float], value: float, threshold: float
) -> None:
    rule = (await asked("fact_check", {"predicate": predicate}, value))[2]
    assert rule.threshold == threshold
    assert rule.margin == pytest.approx(value - threshold)


@pytest.mark.parametrize(
    ("section", "rule", "thresholds", "expected"),
    [
        ("jailbreak", {}, {"jailbreak": 0.8}, 0.8),
        ("jailbreak", {"predicate": {"gte": 0.6}}, {"jailbreak": 0.8}, 0.6),
        ("jailbreak", {}, {"harm": 0.8}, 0.5),
        ("safety", {}, {"harm": 0.3}, 0.3),
        ("systemone", {"question": {"preset": "jailbreak"}}, {"jailbreak": 0.8}, 0.8),
        (
            "systemone",
            {"question": {"preset": "jailbreak", "threshold": 0.7}},
            {"jailbreak": 0.8},
            0.7,
        ),
        ("systemone", {"question": OWN["noul"]}, {"jailbreak": 0.8}, 0.5),
    ],
)
async def test_where_a_threshold_comes_from(
    section: str, rule: dict[str, Any], thresholds: dict[str, float], expected: float
) -> None:
    """CFG-5: the rule's predicate, else the card's calibrated threshold, else 0.5."""
    found = (await asked(section, rule, 0.9, thresholds=thresholds))[2]
    assert found.threshold == expected


def ids(signals: dict[str, Any], trained: dict[str, str] | None = None) -> dict[str, Question]:
    """The questions of the first entry of the recipe's one call."""
    types = {"domains": "domain", "user_feedbacks": "user_feedback"}
    leaves = [
        {"type": types.get(section, section), "name": rule["name"]}
        for section, rules in signals.items()
        for rule in rules
    ]
    known = {
        "signals": signals,
        "decisions": [{"name": "d", "rules": {"conditions": leaves}, **ROUTED}],
    }
    recipe = compiled(known, cards={"primary": card(trained_ids=trained or {})})
    (call,) = recipe.signals.later_turn
    return dict(call.entries[0][1])


def test_a_question_carries_its_trained_id_or_the_routers_own() -> None:
    """SIG-6"""
    signals = {
        "domains": [{"name": "math"}],
        "complexity": [{"name": "hard"}],
        "systemone": [{"name": "needs_tools", "question": OWN["noul"]}],
    }
    assert list(ids(signals)) == ["preset:domain", "preset:complexity", "systemone:needs_tools"]
    trained = {"domain": "domain", "complexity": "difficulty_v2", "jailbreak": "attack"}
    assert list(ids(signals, trained)) == ["domain", "difficulty_v2", "systemone:needs_tools"]


def test_rules_with_the_same_preset_share_one_question_with_all_its_options() -> None:
    """SIG-5, CACHE-3: labels and predicates are no part of what is asked."""
    asked = ids(
        {
            "domains": [
                {"name": "math", "labels": ["math"]},
                {"name": "law", "labels": ["law"], "predicate": {"gte": 0.9}},
            ],
            "pii": [{"name": "ssn", "labels": ["US_SSN"]}],
            "safety": [
                {"name": "hate", "labels": ["hate"]},
                {"name": "arms", "labels": ["weapons"]},
            ],
        }
    )
    assert asked == {
        "preset:domain": preset_question("domain"),
        "preset:pii": preset_question("pii"),
        "preset:harm": preset_question("harm", QuestionType.SET),
    }


def test_a_preset_asked_in_two_types_has_two_ids() -> None:
    asked = ids({"safety": [{"name": "any"}, {"name": "hate", "labels": ["hate"]}]})
    assert {id: question.type for id, question in asked.items()} == {
        "preset:harm": QuestionType.NOUL,
        "preset:harm:set": QuestionType.SET,
    }


async def test_each_rule_applies_its_own_labels_and_predicate_to_a_shared_answer() -> None:
    """SIG-5"""
    known = {
        "signals": {
            "domains": [
                {"name": "math", "labels": ["math"]},
                {"name": "sure", "labels": ["math"], "predicate": {"gte": 0.9}},
                {"name": "law", "labels": ["law"]},
            ]
        },
        "decisions": [
            {"name": n, "rules": {"conditions": [{"type": "domain", "name": n}]}, **ROUTED}
            for n in ("sure", "law", "math")
        ],
    }
    outcome = await routed(compiled(known), ScriptedAsk({"preset:domain": {"math": 0.7}}))
    assert {r.name: r.verdict for r in outcome.rules} == {"math": M, "sure": N, "law": N}
    assert len(outcome.calls[0].questions["1"]) == 1
