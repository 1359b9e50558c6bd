"""What figures must reach: SRV-19."""

from __future__ import annotations

import json

import pytest

from models.evaluation.floors import Floor, figure_names, missed, parse_floor
from models.evaluation.report import ENOUGH, evaluate
from models.evaluation.truth import read_examples
from tests.doubles.judged import noul

REPORT = evaluate([noul(0.9, True, id="a=b"), noul(0.2, False, id="a=b")])


def test_a_floor_is_a_name_and_a_bound() -> None:
    assert parse_floor("pii.f1.PERSON=0.75") == Floor("pii.f1.PERSON", 0.75)
    assert parse_floor("a=b.auc=1") == Floor("a=b.auc", 1.0)


@pytest.mark.parametrize("text", ["", "x.auc", "x.auc=", "x.auc=high", "=0.5", "x.auc=nan", "x=-1"])
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="a floor is"):
        parse_floor(text)


def test_a_figure_below_its_floor_misses_it() -> None:
    assert missed(REPORT, [Floor("a=b.auc", 1.0), Floor("a=b.accuracy", 1.0)]) == ()
    (said,) = missed(REPORT, [Floor("a=b.ece", 0.1)])
    assert said == "a=b.ece is 0.150, above 0.1"
    assert missed(REPORT, [Floor("a=b.ece", 0.2), Floor("noul.ece", 0.2)]) == ()


def test_what_is_not_known_reaches_no_floor() -> None:
    report = evaluate([noul(0.9, True)])
    assert missed(report, [Floor("q.auc", 0.0)]) == ("q.auc is not known",)
    assert missed(report, [], min_auc=0.0) != ()


def test_the_mean_auc_has_a_floor_of_its_own() -> None:
    report = evaluate([noul(0.5 + i % 2 / 4, bool(i % 2)) for i in range(ENOUGH)])
    assert missed(report, [], min_auc=1.0) == ()
    chance = evaluate([noul(0.5, bool(i % 2)) for i in range(ENOUGH)])
    assert missed(chance, [], min_auc=0.8) == ("mean AUC is 0.500, below 0.8",)


def test_the_figures_that_data_has_are_known_before_anything_is_asked() -> None:
    questions = {
        "n": {"preset": "jailbreak", "label": True},
        "s": {"type": "span", "labels": ["GPE"], "label": []},
    }
    names = figure_names(read_examples([json.dumps({"state": "x", "questions": questions})]))
    assert {"n.auc", "n.answered", "noul.ece", "s.f1.GPE", "span.ece"} <= set(names)
    assert "n.mae" not in names
