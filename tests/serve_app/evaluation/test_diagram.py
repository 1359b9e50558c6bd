"""Reliability diagrams: SRV-19."""

from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np

from models.evaluation.judged import Judged
from models.evaluation.report import evaluate
from serve_app.evaluation.diagram import can_draw, draw
from tests.doubles.judged import choice, error, labels, noul, score, spans

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def drawn(judged: list[Judged], path: Path) -> np.ndarray:
    """Pixels ``(height, width, 4)``."""
    draw(evaluate(judged, resamples=10), path)
    assert path.read_bytes().startswith(SIGNATURE)
    return np.asarray(matplotlib.image.imread(path))


def test_each_type_has_a_panel(tmp_path: Path) -> None:
    every = [
        noul(0.9, True),
        choice([0.6, 0.2, 0.2], "a"),
        score([0.2, 0.6, 0.2], 1),
        labels([0.9, 0.1], {"a"}),
        spans([("GPE", 0, 3, 0.8)], [("GPE", 0, 3)]),
    ]
    assert can_draw()
    five, one = drawn(every, tmp_path / "5.png"), drawn(every[:1], tmp_path / "1.png")
    assert five.shape[1] == 5 * one.shape[1]
    assert five.std() > 0.05


def test_without_probabilities_there_is_still_a_picture(tmp_path: Path) -> None:
    drawn([error()], tmp_path / "none.png")
