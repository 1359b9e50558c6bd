"""What calls of a request with a long input tell of a model's speed: SCAN-9."""

from __future__ import annotations

import asyncio

import pytest

from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer
from serve_app.asking.call import Call, Reply, Timings
from serve_app.scan.speed import Speeds
from serve_app.signals.scanning import was_computed
from tests.doubles.long_inputs import WINDOW, ReadingAsk, recipe, text_of
from tests.doubles.recipes import routed

pytestmark = pytest.mark.looptime

YES, REFUSED = NoulAnswer(0.5), ErrorAnswer(AnswerError.OVERLOADED)


@pytest.mark.parametrize(
    ("reply", "computed"),
    [
        (Reply({}, attempts=1, timings=Timings(0, 0, 5)), True),
        (Reply({}, attempts=1), True),
        (Reply({}, attempts=1, timings=Timings(0, 0, 0)), False),
        (Reply({}, attempts=0), False),
        (Reply({"1": {"a": YES}}), True),
        (Reply({"1": {"a": YES}, "2": {"b": REFUSED}}), False),
        (Reply({"1": {"a": REFUSED}}, timings=Timings(0, 0, 5)), False),
    ],
)
def test_what_was_known_refused_or_given_up_is_no_measure_of_speed(
    reply: Reply, computed: bool
) -> None:
    """SCAN-9, CACHE-1, CACHE-2"""
    assert was_computed(reply) is computed


def is_view(call: Call) -> bool:
    return "preset:domain" in call.entries["1"].questions


@pytest.mark.parametrize("how", ["answered", "refused", "late"])
async def test_a_call_beside_the_windows_counts_where_it_was_answered(how: str) -> None:
    """SCAN-9: a refusal takes no time, and what is given up took as long as it was waited for"""
    error = AnswerError.OVERLOADED if how == "refused" else None
    late_s = 60.0 if how == "late" else 0.5
    ask = ReadingAsk(
        takes_s=lambda call: late_s if is_view(call) else 1.0,
        fails=lambda text: error if "tokens omitted" in text else None,
    )
    loop = asyncio.get_running_loop()
    speeds = Speeds()
    await routed(recipe(), ask, text_of(3), clock=loop.time, deadline_s=10.0, speeds=speeds)
    others = Speeds().of("primary")
    for _ in filter(lambda call: not is_view(call), ask.calls):
        others.measured(WINDOW, 1.0)
    known = speeds.of("primary").weight, speeds.of("primary").seconds
    assert (known == (others.weight, others.seconds)) is (how != "answered")
