"""Points of the curve from the times of calls."""

from __future__ import annotations

import pytest

from benchmarks.harness.calls import Call
from benchmarks.harness.curve import Cell, cells, point
from benchmarks.harness.plan import LENGTHS, Play, Texts


def cell(first: float, ten: float, alone: list[float]) -> Cell:
    return Cell("model", Texts.KNOWN, 400, 0, {1: [first], 10: [ten, ten, 99.0 * ten]}, alone)


def test_a_point_compares_the_median_call_with_as_many_median_single_calls() -> None:
    found = point([cell(10, 12, [10.0] * 9 + [900.0]), cell(20, 24, [20.0] * 11)], 10)
    assert (found.one.low, found.one.high) == (12, 24)
    assert found.single is not None
    assert (found.single.low, found.single.high) == (100, 200)
    assert found.ratio is not None
    assert found.ratio.mean == pytest.approx(100 / 12)
    assert found.ratio.rounds == 2


def test_a_further_question_costs_what_a_call_of_many_has_over_a_call_of_one() -> None:
    found = point([cell(10, 12.7, []), cell(20, 25.4, [])], 10)
    assert found.further is not None
    assert (found.further.low, found.further.high) == pytest.approx((0.3, 0.6))
    assert found.share is not None
    assert (found.share.mean, found.share.low) == pytest.approx((0.03, 0.03))


def test_a_figure_that_was_not_measured_is_absent() -> None:
    one, ten = (point([cell(10, 12, [10.0] * 9)], size) for size in (1, 10))
    assert (one.further, one.share) == (None, None)
    assert (ten.single, ten.ratio) == (None, None)


def test_plays_come_back_sorted_whatever_their_order_was() -> None:
    plays = []
    for texts in Texts:
        for tokens in LENGTHS:
            plays += [
                Play(texts, Call(1, tokens, (1,)), alone=1),
                Play(texts, Call(2, tokens, (0, 1))),
                Play(texts, Call(3, tokens, (0,)), alone=0),
                Play(texts, Call(4, tokens, (0,))),
                Play(texts, Call(5, tokens, (0, 1))),
            ]
    times = [float(i) for i in range(len(plays))]
    found = cells("model", 6, plays, times, 0.25)
    assert [(c.texts, c.tokens) for c in found] == [(t, n) for t in Texts for n in LENGTHS]
    first, second = found[:2]
    assert (first.together, first.alone) == ({1: [3.0], 2: [1.0, 4.0]}, [2.0, 0.0])
    assert (second.together, second.alone) == ({1: [8.0], 2: [6.0, 9.0]}, [7.0, 5.0])
    assert {(c.contestant, c.round, c.foreign) for c in found} == {("model", 6, 0.25)}
