"""Reading a router's counters."""

from __future__ import annotations

from benchmarks.harness.calls import Call
from benchmarks.harness.counters import Counters

EXPOSITION = """\
# HELP vsr_model_calls_total Calls admitted.
# TYPE vsr_model_calls_total counter
vsr_model_calls_total{deployment="primary"} 5.0
vsr_model_calls_total{deployment="second"} 2.0
# HELP vsr_model_rows_total Rows computed in forwards.
# TYPE vsr_model_rows_total counter
vsr_model_rows_total{deployment="primary"} 6.0
"""


def test_counters_are_summed_over_deployments_and_absent_ones_are_zero() -> None:
    assert Counters.parse(EXPOSITION) == Counters(7, 0, 0, 0, 0, 6)


def test_uncached_calls_in_turn_compute_a_row_and_a_forward_each() -> None:
    calls = [Call(0, 30, (1, 2, 3)), Call(1, 400, (1,))]
    expected = Counters.computed(calls)
    assert expected == Counters(calls=2, questions=4, cached=0, shared=0, forwards=2, rows=2)
    assert str(expected) == "2 calls, 4 questions, 0 cached, 0 shared, 2 forwards, 2 rows"
