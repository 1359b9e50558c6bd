"""The command runs from start to record."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import orjson
import pytest
from pydantic import TypeAdapter

from benchmarks import questions
from benchmarks.harness.curve import CurveRecord
from benchmarks.harness.names import BARE
from benchmarks.harness.plan import LENGTHS, SIZES, Texts
from benchmarks.harness.proc import processes


def children() -> set[tuple[int, int]]:
    """Processes of this one: fixtures of other tests may have some too."""
    return {process.identity for process in processes() if process.parent == os.getpid()}


@pytest.mark.timeout(90)
def test_a_run_in_process_leaves_a_record_that_can_be_rendered_again_and_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(questions.REPEATS, questions.INPROCESS, 1)
    monkeypatch.setitem(questions.SINGLES, questions.INPROCESS, {Texts.KNOWN: 2, Texts.NEW: 1})
    file = tmp_path / "record.json"
    run = "--engine inprocess --rounds 1 --wait 0"
    monkeypatch.setattr(sys, "argv", ["questions", *run.split(), "--out", str(file)])
    before = children()
    questions.main()
    first = capsys.readouterr().out
    record = TypeAdapter(CurveRecord).validate_json(file.read_bytes())
    assert [(c.contestant, c.texts, c.tokens) for c in record.cells] == [
        (BARE, texts, tokens) for texts in Texts for tokens in LENGTHS
    ]
    for cell in record.cells:
        assert {size: len(times) for size, times in cell.together.items()} == dict.fromkeys(
            SIZES, 1
        )
        assert len(cell.alone) == (2 if cell.texts is Texts.KNOWN else 1)
    assert children() <= before
    monkeypatch.setattr(sys, "argv", ["questions", "--render", str(file)])
    questions.main()
    assert capsys.readouterr().out == first
    assert len(orjson.loads(file.read_bytes())["verdicts"]) == 1
