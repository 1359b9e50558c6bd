"""How a call's time travels. SRV-9"""

from __future__ import annotations

import pickle

import pytest

from models.engine import Row
from models.scheduling import messages
from models.scheduling.messages import ModelCall
from models.scheduling.presence import Board


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(messages, "monotonic", lambda: now[0])
    return now


def travelled(written: bytes) -> ModelCall:
    call = pickle.loads(written)
    assert isinstance(call, ModelCall)
    return call


def test_a_call_is_written_with_what_is_left_then(clock: list[float]) -> None:
    call = ModelCall((Row("x", ()),), 1.0, since=clock[0])
    clock[0] += 0.25
    received = travelled(pickle.dumps(call))
    assert (received.rows, received.remaining_s) == (call.rows, 0.75)
    clock[0] += 0.5
    assert received.left_s == 0.25


def test_on_one_machine_the_way_counts(clock: list[float]) -> None:
    written = pickle.dumps(ModelCall((), 1.0, since=clock[0]))
    clock[0] += 0.75
    assert travelled(written).remaining_s == 0.25


def test_between_machines_clocks_are_not_compared(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the memory of another machine read."""
    written = pickle.dumps(ModelCall((), 1.0, since=clock[0], place=Board().place()))
    clock[0] = 3.0
    monkeypatch.setattr(messages, "BOOT", "another")
    received = travelled(written)
    assert (received.remaining_s, received.since, received.place) == (1.0, 3.0, None)


def test_who_waits_for_ever_does_so_wherever(clock: list[float]) -> None:
    assert travelled(pickle.dumps(ModelCall((), since=clock[0]))).left_s is None
