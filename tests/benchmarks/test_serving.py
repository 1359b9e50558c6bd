"""The command runs from start to record."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import orjson
import pytest
from pydantic import TypeAdapter

from benchmarks import serving
from benchmarks.harness.names import FASTAPI, FIXED
from benchmarks.harness.proc import processes
from benchmarks.harness.record import Record


def children() -> set[tuple[int, int]]:
    """Processes of this one: fixtures of other tests may have some too."""
    return {process.identity for process in processes() if process.parent == os.getpid()}


@pytest.mark.timeout(60)
def test_a_run_leaves_a_record_that_can_be_rendered_again_and_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "record.json"
    run = "--engine fixed --only fastapi --rounds 1 --seconds 0.2 --callers 1,2 --wait 0"
    monkeypatch.setattr(sys, "argv", ["serving", *run.split(), "--out", str(file)])
    before = children()
    serving.main()
    first = capsys.readouterr().out
    record = TypeAdapter(Record).validate_json(file.read_bytes())
    contest = record.contest(FIXED)
    assert contest is not None
    assert [(c.contestant, c.callers, c.failed) for c in contest.cells] == [
        (FASTAPI, 1, 0),
        (FASTAPI, 2, 0),
    ]
    assert children() <= before
    monkeypatch.setattr(sys, "argv", ["serving", "--render", str(file)])
    serving.main()
    assert capsys.readouterr().out == first
    assert orjson.loads(file.read_bytes())["verdicts"] == []


def test_a_quick_run_has_few_rounds() -> None:
    chosen = serving.options(["--quick"])
    assert (chosen.rounds, chosen.callers) == (2, [1, 16, 64])
