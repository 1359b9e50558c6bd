"""A round asks everything once, and no state twice."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from random import Random

from benchmarks.harness.calls import MOST_QUESTIONS
from benchmarks.harness.plan import LENGTHS, SIZES, Plan, Texts

SINGLES = {Texts.KNOWN: 50, Texts.NEW: 4}


def plan() -> Plan:
    return Plan(3, SINGLES, Random(2))


def test_a_round_has_every_size_as_often_as_said_and_the_single_calls() -> None:
    plays = plan().round()
    together = Counter(
        (p.texts, p.call.tokens, len(p.call.questions)) for p in plays if p.alone is None
    )
    assert together == {(t, n, size): 3 for t in Texts for n in LENGTHS for size in SIZES}
    for texts in Texts:
        for tokens in LENGTHS:
            alone = [
                p.alone
                for p in plays
                if p.alone is not None and (p.texts, p.call.tokens) == (texts, tokens)
            ]
            assert sorted(alone) == list(range(SINGLES[texts]))


def test_a_single_call_asks_the_question_that_has_its_place_in_a_call_of_many() -> None:
    for play in plan().round():
        places = [number % MOST_QUESTIONS for number in play.call.questions]
        assert places == (list(range(len(places))) if play.alone is None else [play.alone])


def test_rounds_share_no_state_and_no_new_question() -> None:
    made = plan()
    plays = list(chain(made.warm_up(), made.round(), made.round()))
    states = [play.call.state for play in plays]
    assert len(set(states)) == len(states)
    new = list(chain.from_iterable(p.call.questions for p in plays if p.texts is Texts.NEW))
    assert len(set(new)) == len(new)
    known = {n for p in plays if p.texts is Texts.KNOWN for n in p.call.questions}
    assert known == set(range(MOST_QUESTIONS))
    assert known.isdisjoint(new)


def test_the_order_of_a_round_is_drawn_from_the_seed() -> None:
    assert plan().round() == plan().round()
    made = plan()
    orders = [[(p.texts, p.call.tokens, p.alone) for p in made.round()] for _ in range(2)]
    assert orders[0] != orders[1]
