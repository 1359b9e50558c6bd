"""Three-valued logic: UNK-1, UNK-2, CFG-7."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import AnswerError
from serve_app.decisions.projections import Score, Term
from serve_app.decisions.tree import BandLeaf, Branch, Node, RuleLeaf, kleene, leaves
from serve_app.outcome import Truth
from serve_app.reading import NOT_ARISING, Bounds, Criterion, Reading, Readings

RULES = 4
YES, NO = Reading((1.0,)), Reading((0.0,))
LATE = Reading(reason=AnswerError.DEADLINE_EXCEEDED)
READING = {Truth.TRUE: YES, Truth.FALSE: NO, Truth.UNKNOWN: LATE}
HALF = Criterion((0,), Bounds.make(gte=0.5))

truths = st.sampled_from(list(Truth))
leaf = st.builds(
    RuleLeaf, condition=st.just("x:y"), rule=st.integers(0, RULES - 1), criterion=st.just(HALF)
)
trees: st.SearchStrategy[Node] = st.recursive(
    leaf,
    lambda children: st.one_of(
        st.builds(
            Branch,
            st.sampled_from(["AND", "OR"]),
            st.lists(children, min_size=1, max_size=3).map(tuple),
        ),
        st.builds(Branch, st.just("NOT"), children.map(lambda child: (child,))),
    ),
    max_leaves=6,
)
assignments = st.lists(truths, min_size=RULES, max_size=RULES)


def two_valued(node: Node, values: list[bool]) -> bool:
    """The tree in ordinary logic, for an independent opinion."""
    if isinstance(node, Branch):
        children = [two_valued(child, values) for child in node.children]
        return {"AND": all(children), "OR": any(children), "NOT": not children[0]}[node.operator]
    assert isinstance(node, RuleLeaf)
    return values[node.rule]


def readings(assignment: list[Truth]) -> Readings:
    return [READING[truth] for truth in assignment]


def each_leaf_apart(node: Node) -> tuple[Node, int]:
    """The tree with a rule of its own for every leaf, and their number."""
    places = iter(range(1000))

    def apart(node: Node) -> Node:
        if isinstance(node, Branch):
            return Branch(node.operator, tuple(apart(child) for child in node.children))
        return RuleLeaf("x:y", next(places), HALF)

    return apart(node), len(leaves(node))


@given(trees, st.data())
def test_a_tree_is_unknown_exactly_where_its_unknown_leaves_could_tip_it(
    tree: Node, data: st.DataObject
) -> None:
    """UNK-1: with every leaf its own rule, Kleene's value is the value all completions share."""
    tree, count = each_leaf_apart(tree)
    given_truths = data.draw(st.lists(truths, min_size=count, max_size=count))
    choices = [
        [True, False] if truth is Truth.UNKNOWN else [truth is Truth.TRUE] for truth in given_truths
    ]
    outcomes = {two_valued(tree, list(values)) for values in product(*choices)}
    expected = (
        Truth.UNKNOWN if len(outcomes) == 2 else (Truth.TRUE if outcomes == {True} else Truth.FALSE)
    )
    assert tree.truth(readings(given_truths)) is expected


@given(trees, assignments, st.data())
def test_learning_an_answer_never_takes_back_what_was_certain(
    tree: Node, assignment: list[Truth], data: st.DataObject
) -> None:
    """UNK-1, also where a rule stands in several leaves."""
    before = tree.truth(readings(assignment))
    learned = [
        data.draw(st.sampled_from([Truth.TRUE, Truth.FALSE])) if t is Truth.UNKNOWN else t
        for t in assignment
    ]
    if before is not Truth.UNKNOWN:
        assert tree.truth(readings(learned)) is before


@given(trees, assignments)
def test_the_shown_tree_agrees_with_the_decided_one(tree: Node, assignment: list[Truth]) -> None:
    """API-9: the short-circuiting truth is the truth of the whole tree's outcome."""
    assert tree.outcome(readings(assignment)).truth is tree.truth(readings(assignment))


@pytest.mark.parametrize("operator", ["AND", "OR"])
def test_the_table_of_kleene(operator: str) -> None:
    """CFG-7"""
    order = [Truth.FALSE, Truth.UNKNOWN, Truth.TRUE]
    pick = min if operator == "AND" else max
    for a, b in product(order, order):
        assert kleene(operator, [a, b]) is order[pick(order.index(a), order.index(b))]  # type: ignore[arg-type]


POLICIES = [None, Truth.TRUE, Truth.FALSE]


@pytest.mark.parametrize("on_error", POLICIES)
@pytest.mark.parametrize("on_unknown", POLICIES)
def test_a_rules_own_policy_goes_before_the_conditions(
    on_unknown: Truth | None, on_error: Truth | None
) -> None:
    """UNK-2"""
    leaf = RuleLeaf("x:y", 0, HALF, on_unknown, on_error)
    assert leaf.truth([LATE]) is (on_unknown or on_error or Truth.UNKNOWN)
    assert leaf.truth([YES]) is Truth.TRUE
    assert leaf.truth([NO]) is Truth.FALSE
    assert leaf.truth([NOT_ARISING]) is Truth.FALSE


@pytest.mark.parametrize("on_unknown", POLICIES)
def test_no_policy_applies_before_a_rule_is_asked(on_unknown: Truth | None) -> None:
    """CFG-6"""
    assert RuleLeaf("x:y", 0, HALF, on_unknown, Truth.TRUE).truth([None]) is Truth.UNKNOWN
    score = Score("s", (Term("x:y", 0, HALF, 1.0),))
    assert BandLeaf("p:q", score, Bounds.make(gte=0), Truth.TRUE).truth([None]) is Truth.UNKNOWN


def test_a_band_with_an_unknown_input_follows_the_conditions_policy() -> None:
    """CFG-9, UNK-2"""
    score = Score("s", (Term("x:y", 0, HALF, 1.0), Term("x:z", 1, HALF, 1.0)))
    band = Bounds.make(gte=0.5, lt=2)
    assert BandLeaf("p:q", score, band).truth([YES, LATE]) is Truth.UNKNOWN
    assert BandLeaf("p:q", score, band, Truth.TRUE).truth([YES, LATE]) is Truth.TRUE
    assert BandLeaf("p:q", score, band).truth([YES, NO]) is Truth.TRUE
    assert BandLeaf("p:q", score, band).truth([YES, YES]) is Truth.FALSE
