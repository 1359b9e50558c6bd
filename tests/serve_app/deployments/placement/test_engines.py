"""Loading an engine in a replica. SRV-4, SRV-11"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from models.engine import Engine
from serve_app.config.schema.catalog import Placement
from serve_app.deployments.placement.engines import FAMILIES, load_engine
from tests.doubles import family
from tests.doubles.engines import CARD


def right(engine: Engine) -> None:
    """Golden questions that are answered as recorded."""


@pytest.fixture(autouse=True)
def fixed_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "fixed", "tests.doubles.family")
    monkeypatch.setattr(family, "loaded", [])
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_an_engine_is_loaded_as_its_placement_says() -> None:
    load_engine(CARD, Placement(device="cpu", threads=3, dtype="float32"), right)
    assert family.loaded == [("fixed", "cpu", 3, "float32")]
    assert os.environ["OMP_NUM_THREADS"] == "3"


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 1), (3, 2), (64, 4)])
def test_without_threads_a_forward_leaves_a_processor_to_the_graph(
    monkeypatch: pytest.MonkeyPatch, processors: int, threads: int
) -> None:
    """SRV-4"""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    load_engine(CARD, Placement(), right)
    assert family.loaded[-1][2] == threads


def test_a_wrong_golden_answer_keeps_the_engine_from_serving() -> None:
    def wrong(engine: Engine) -> None:
        raise RuntimeError("a golden answer is off")

    with pytest.raises(RuntimeError, match="golden"):
        load_engine(CARD, Placement(), wrong)


def test_the_deployments_import_no_torch() -> None:
    code = (
        "import sys, serve_app.deployments.decision_model, serve_app.deployments.placement.engines;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
