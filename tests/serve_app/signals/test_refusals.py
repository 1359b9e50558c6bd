"""Windows that a model without room refuses: SCAN-3, COV-1, COV-3."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from models.questions.types import AnswerError, ErrorAnswer
from serve_app.asking.call import Call, Reply
from serve_app.asking.stage import failed
from serve_app.outcome import Outcome
from tests.doubles.long_inputs import BLOCKED, REST, ReadingAsk, coverage, recipe, text_of
from tests.doubles.recipes import routed

pytestmark = pytest.mark.looptime

NO_ROOM = [AnswerError.OVERLOADED, AnswerError.NOT_READY]


@dataclass
class CrowdedAsk(ReadingAsk):
    """Has room for so many calls at once and refuses the others, while it was asked no more than
    ``until`` times."""

    room: int = 4
    until: int = 10_000

    async def __call__(self, call: Call) -> Reply:
        if self.out >= self.room and len(self.calls) < self.until:
            self.calls.append(call)
            return failed(call, ErrorAnswer(AnswerError.OVERLOADED))
        return await super().__call__(call)


async def scanned(ask: ReadingAsk, text: str, parallel: int = 4) -> Outcome:
    window: dict[str, Any] = {"tokens": 256, "overlap": 16, "max_parallel": parallel}
    loop = asyncio.get_running_loop()
    known = recipe(BLOCKED, REST, scan_window=window)
    return await routed(known, ask, text, clock=loop.time)


@pytest.mark.parametrize("error", NO_ROOM)
@pytest.mark.parametrize("parallel", [1, 4])
async def test_a_refusal_costs_its_window_and_not_the_scan(error: Any, parallel: int) -> None:
    """COV-1: the refused window is unread, the others are read"""
    ask = ReadingAsk(fails=lambda text: error if "BUSY" in text else None)
    outcome = await scanned(ask, text_of(40, BUSY=20_300), parallel)
    assert coverage(outcome) == {"jailbreak": "partial 42/43"}
    assert outcome.decision == "rest"
    assert outcome.warnings == ("scan_partial",)


async def test_refusals_with_answers_between_them_end_no_scan() -> None:
    """COV-1: however many they are"""
    busy = {f"BUSY{i}": 4_000 * i for i in range(1, 10)}
    ask = ReadingAsk(fails=lambda text: AnswerError.OVERLOADED if "BUSY" in text else None)
    outcome = await scanned(ask, text_of(40, **busy))
    assert coverage(outcome) == {"jailbreak": "partial 33/43"}


@pytest.mark.parametrize("error", NO_ROOM)
@pytest.mark.parametrize(("parallel", "asked"), [(1, 4), (4, 4), (9, 9)])
async def test_a_model_without_room_is_asked_no_further_windows(
    error: Any, parallel: int, asked: int
) -> None:
    """COV-1, COV-3: after as many refusals in a row as there are slots, or four"""
    ask = ReadingAsk(fails=lambda text: error)
    outcome = await scanned(ask, text_of(40), parallel)
    assert len(ask.windows) == asked
    assert outcome.fast is not None
    attack = next(rule for rule in outcome.rules if rule.type == "jailbreak")
    assert attack.reason is error


async def test_a_model_with_less_room_than_slots_is_read_as_far_as_it_goes() -> None:
    """SCAN-3, COV-1: what is out is waited for before more is refused"""
    ask = CrowdedAsk(takes_s=lambda call: 0.1, room=3)
    outcome = await scanned(ask, text_of(40))
    read = int(coverage(outcome)["jailbreak"].removeprefix("partial ").removesuffix("/43"))
    assert read >= 30
    brief = CrowdedAsk(takes_s=lambda call: 0.1, room=1, until=4)
    outcome = await scanned(brief, text_of(40))
    assert coverage(outcome)["jailbreak"] == "partial 41/43"
