"""The nearest change of each decision not taken: API-9."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.questions.types import AnswerError, ErrorAnswer
from serve_app.decisions.change import Change, Scale
from serve_app.decisions.nearest import nearest_changes
from serve_app.decisions.projections import Score, Term
from serve_app.decisions.ready import ReadyDecision
from serve_app.decisions.tree import BandLeaf, Branch, Node, RuleLeaf
from serve_app.decisions.walk import walk
from serve_app.message import Message
from serve_app.outcome import NearestChange, Outcome
from serve_app.reading import Bounds, Criterion, Reading, Readings
from tests.doubles.recipes import ROUTED, compiled, routed
from tests.doubles.scripted_ask import ScriptedAsk

SIGNALS = {
    "domains": [{"name": "math", "labels": ["math"]}, {"name": "law", "labels": ["law"]}],
    "jailbreak": [{"name": "attack"}],
    "safety": [{"name": "harms", "labels": ["weapons", "hate"]}],
    "complexity": [{"name": "difficulty"}],
    "context": [{"name": "long", "min_tokens": 4000}],
    "keywords": [{"name": "urgent", "keywords": ["urgent"]}],
    "systemone": [
        {
            "name": "quality",
            "question": {"type": "score", "instructions": "How good?", "levels": ["a", "b", "c"]},
            "predicate": {"gte": 1.5},
        }
    ],
}
ANSWERS: dict[str, Any] = {
    "preset:domain": {"math": 0.4, "law": 0.5},
    "preset:jailbreak": 0.2,
    "preset:harm": {"weapons": 0.3, "hate": 0.1},
    "preset:complexity": {"easy": 0.2, "medium": 0.45, "hard": 0.35},
    "systemone:quality": 0.5,
}


async def explained(*conditions: Any, operator: str = "AND", text: str = "hi") -> Outcome:
    known = {
        "signals": SIGNALS,
        "decisions": [
            {
                "name": "it",
                "rules": {"operator": operator, "conditions": list(conditions)},
                **ROUTED,
            }
        ],
    }
    recipe = compiled(known, default_model="endless")
    return await routed(recipe, ScriptedAsk(ANSWERS), Message(text, tokens=100))


def rule(key: str, **fields: Any) -> dict[str, Any]:
    type, name, *label = key.split(":")
    return {"type": type, "name": name, **({"label": label[0]} if label else {}), **fields}


@pytest.mark.parametrize(
    ("condition", "value", "needed"),
    [
        ("jailbreak:attack", 0.2, 0.5),
        ("domain:math", 0.4, 0.5),  # 0.5 / (0.6 + 0.5) would win, the threshold asks for more
        ("complexity:difficulty:hard", 0.35, 0.45 / (0.65 + 0.45)),
        ("safety:harms", 0.3, 0.5),
        ("safety:harms:hate", 0.1, 0.5),
        ("context:long", 100, 4000),
        ("keywords:urgent", 0, 1),
        ("systemone:quality", 0.5, 1.5),
    ],
)
async def test_one_condition_needs_its_threshold(
    condition: str, value: float, needed: float
) -> None:
    """Of a choice, the others keep their proportions while the option gains."""
    (decision,) = (await explained(rule(condition))).decisions
    assert decision.nearest is not None
    assert decision.nearest.rule == condition
    assert decision.nearest.value == pytest.approx(value)
    assert decision.nearest.needed == pytest.approx(needed, abs=1e-6)


async def test_the_least_of_several_is_told() -> None:
    outcome = await explained(
        rule("jailbreak:attack"), rule("safety:harms"), rule("systemone:quality"), operator="OR"
    )
    assert outcome.decisions[0].nearest == NearestChange("safety:harms", 0.3, 0.5)


async def test_two_false_conditions_have_no_single_change() -> None:
    outcome = await explained(rule("jailbreak:attack"), rule("safety:harms"))
    assert outcome.decisions[0].nearest is None


async def test_a_value_may_have_to_fall() -> None:
    outcome = await explained(
        {"operator": "NOT", "conditions": [rule("domain:law", predicate={"gte": 0.45})]}
    )
    nearest = outcome.decisions[0].nearest
    assert nearest is not None
    assert nearest.rule == "domain:law"
    assert nearest.needed < 0.45
    assert nearest.needed == pytest.approx(0.45)


async def test_an_unknown_rule_offers_no_change() -> None:
    known = {
        "signals": SIGNALS,
        "decisions": [
            {"name": "it", "rules": {"conditions": [rule("complexity:difficulty:hard")]}, **ROUTED}
        ],
    }
    outcome = await routed(compiled(known, default_model="endless"), ScriptedAsk())
    assert outcome.decisions[0].nearest is None


async def test_a_decision_behind_the_one_taken_needs_that_one_to_fail() -> None:
    """Its own tree is true already; the decision before it stands in its way."""
    known = {
        "signals": SIGNALS,
        "decisions": [
            {"name": "a", "priority": 2, "rules": {"conditions": [rule("domain:law")]}, **ROUTED},
            {
                "name": "b",
                "priority": 1,
                "rules": {"conditions": [rule("jailbreak:attack")]},
                **ROUTED,
            },
            {"name": "rest", **ROUTED},
        ],
    }
    ask = ScriptedAsk(ANSWERS | {"preset:domain": {"law": 0.6}, "preset:jailbreak": 0.7})
    taken, behind, last = (await routed(compiled(known), ask)).decisions
    assert taken.nearest is None
    assert behind.nearest is not None
    assert behind.nearest.rule == "domain:law"
    assert behind.nearest.needed == pytest.approx(0.5)
    assert last.nearest is None  # two decisions stand in its way


async def test_rules_that_share_an_answer_move_together() -> None:
    """SIG-5: two rules on one choice; while math gains, law loses."""
    outcome = await explained(
        rule("domain:math"),
        {"operator": "NOT", "conditions": [rule("domain:law", predicate={"gte": 0.3})]},
    )
    nearest = outcome.decisions[0].nearest
    assert nearest is not None
    assert nearest.rule == "domain:math"
    assert nearest.needed == pytest.approx(0.5)  # law falls to 0.42 and no longer wins


async def test_a_change_may_go_through_a_projection() -> None:
    known = {
        "signals": SIGNALS,
        "projections": {
            "scores": [
                {
                    "name": "risk",
                    "inputs": [
                        {"type": "jailbreak", "name": "attack", "weight": 2},
                        {"type": "domain", "name": "law", "label": "law", "weight": -1},
                    ],
                }
            ],
            "mappings": [
                {"name": "m", "source": "risk", "outputs": [{"name": "high", "gte": 0.3}]}
            ],
        },
        "decisions": [{"name": "it", "rules": {"conditions": [rule("projection:high")]}, **ROUTED}],
    }
    outcome = await routed(compiled(known, default_model="endless"), ScriptedAsk(ANSWERS))
    nearest = outcome.decisions[0].nearest  # 2 * 0.2 - 0.5 = -0.1
    assert nearest is not None
    assert nearest.rule == "jailbreak:attack"
    assert nearest.needed == pytest.approx(0.4)


async def test_a_change_beside_a_guard_that_failed_closed_goes_through_its_projection() -> None:
    """UNK-2, API-9: the guard counts as 1 and stays so; the keyword is what may change."""
    known = {
        "signals": SIGNALS,
        "projections": {
            "scores": [
                {
                    "name": "risk",
                    "inputs": [
                        {"type": "jailbreak", "name": "attack", "weight": 1},
                        {"type": "keywords", "name": "urgent", "weight": 0.5},
                    ],
                }
            ],
            "mappings": [
                {"name": "m", "source": "risk", "outputs": [{"name": "high", "gte": 1.5}]}
            ],
        },
        "decisions": [{"name": "it", "rules": {"conditions": [rule("projection:high")]}, **ROUTED}],
    }
    ask = ScriptedAsk({"preset:jailbreak": ErrorAnswer(AnswerError.OVERLOADED)})
    outcome = await routed(compiled(known, default_model="endless"), ask)
    assert outcome.decisions[0].nearest == NearestChange("keywords:urgent", 0, 1)


# Any small recipe: two nouls, a choice of three, a count, and a score over all of them.

SCALES = (
    Scale("a:a", 0),
    Scale("b:b", 1),
    Scale("c:c", 2, ("x", "y", "z")),
    Scale("d:d", 3, top=float("inf"), whole=True),
)
tenths = st.integers(0, 10).map(lambda n: n / 10)
bounds = st.builds(
    lambda name, value: Bounds.make(**{name: value}),
    st.sampled_from(["gt", "gte", "lt", "lte"]),
    tenths,
)


@st.composite
def criteria(draw: st.DrawFn) -> tuple[int, Criterion]:
    rule = draw(st.integers(0, 3))
    if rule == 3:
        return rule, Criterion((0,), Bounds.make(gte=draw(st.integers(0, 9))))
    if rule < 2:
        return rule, Criterion((0,), draw(bounds))
    options = draw(st.sampled_from([(0,), (1,), (2,), (0, 2), (0, 1, 2)]))
    return rule, Criterion(options, draw(st.one_of(st.none(), bounds)), wins=True)


@st.composite
def bands(draw: st.DrawFn) -> BandLeaf:
    read = draw(st.lists(criteria(), min_size=1, max_size=3))
    terms = [
        Term(SCALES[r].key, r, c, draw(st.sampled_from([-2.0, -0.5, 0.5, 1.0]))) for r, c in read
    ]
    return BandLeaf("projection:p", Score("s", tuple(terms)), draw(bounds))


leaf: st.SearchStrategy[Node] = st.one_of(
    criteria().map(lambda read: RuleLeaf(SCALES[read[0]].key, *read)), bands()
)
tree = st.recursive(
    leaf,
    lambda children: st.one_of(
        st.builds(
            Branch,
            st.sampled_from(["AND", "OR"]),
            st.lists(children, min_size=1, max_size=3).map(tuple),
        ),
        st.builds(Branch, st.just("NOT"), children.map(lambda child: (child,))),
    ),
    max_leaves=4,
)
decided = st.lists(tree.map(lambda node: Branch("AND", (node,))), min_size=1, max_size=3)


@st.composite
def some_readings(draw: st.DrawFn) -> Readings:
    weights = [draw(st.integers(0, 9)) for _ in range(3)]
    total = sum(weights) or 1
    shares = tuple(w / total for w in weights) if sum(weights) else (1.0, 0.0, 0.0)
    found: Readings = [
        Reading((draw(tenths),)),
        Reading((draw(tenths),)),
        Reading(shares, shares.index(max(shares))),
        Reading((float(draw(st.integers(0, 9))),)),
    ]
    if draw(st.booleans()):
        found[draw(st.integers(0, 3))] = Reading(reason=AnswerError.UNAVAILABLE)
    return found


def ready(roots: list[Branch]) -> list[ReadyDecision]:
    return [
        ReadyDecision(str(i), 0, root, "no_match", (), "static", None, False, (), None, ())
        for i, root in enumerate(roots)
    ]


@settings(max_examples=150)
@given(decided, some_readings())
def test_applying_a_change_takes_the_decision(roots: list[Branch], readings: Readings) -> None:
    decisions = ready(roots)
    for index, change in nearest_changes(decisions, SCALES, readings, asked=True).items():
        type = change.rule.split(":")[0]
        rule = "abcd".index(type)
        reading = readings[rule]
        assert reading is not None
        took = False
        for options in ((0,), (1,), (2,)) if type == "c" else ((0,),):
            if reading.values[options[0]] != change.value:
                continue
            moved = list(readings)
            moved[rule] = Change.of("", frozenset([rule]), options, SCALES[rule], reading).to(
                change.needed
            )
            took = took or walk(decisions, moved, asked=True).at == index
        assert took


@settings(max_examples=150)
@given(decided, some_readings())
def test_no_smaller_change_of_a_noul_takes_the_decision(
    roots: list[Branch], readings: Readings
) -> None:
    """Against a search over a grid twenty times as fine as the bounds."""
    decisions = ready(roots)
    nearest = nearest_changes(decisions, SCALES, readings, asked=True)
    now = walk(decisions, readings, asked=True).at
    for rule in (0, 1):
        reading = readings[rule]
        if reading is None or not reading.values:
            continue
        for step in range(201):
            moved = list(readings)
            moved[rule] = Reading((step / 200,))
            at = walk(decisions, moved, asked=True).at
            if at is None or at == now:
                continue
            assert at in nearest
            assert abs(nearest[at].by) <= abs(step / 200 - reading.values[0]) + 1e-6
