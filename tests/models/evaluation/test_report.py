"""The report as a whole: SRV-19, S1-14."""

from __future__ import annotations

import json

import numpy as np
import pytest

from models.evaluation.judged import Judged
from models.evaluation.report import ENOUGH, evaluate
from models.questions.types import QuestionType
from tests.doubles.judged import choice, error, noul, spans


def skilled(id: str, n: int, auc: float) -> list[Judged]:
    """``n`` nouls of exactly that AUC, of halves and quarters."""
    yes = {1.0: 0.9, 0.5: 0.5, 0.0: 0.1}[auc]
    return [noul(yes if i % 2 else 0.5, bool(i % 2), id=id) for i in range(n)]


def test_questions_stand_in_the_order_of_the_data() -> None:
    report = evaluate([noul(0.9, True, id="b"), noul(0.9, True, id="a"), choice([1, 0, 0], "a")])
    assert [(row.id, row.type) for row in report.rows] == [
        ("b", QuestionType.NOUL),
        ("a", QuestionType.NOUL),
        ("choice", QuestionType.CHOICE),
    ]
    assert [row.type for row in report.types] == [QuestionType.NOUL, QuestionType.CHOICE]


def test_an_id_of_two_types_is_refused() -> None:
    """They have no figures in common."""
    with pytest.raises(ValueError, match="choice is asked as a choice and as a noul"):
        evaluate([choice([1, 0, 0], "a"), noul(0.9, True, id="choice")])


def test_an_unknown_answer_is_counted_apart_and_never_right() -> None:
    """UNK-1: it makes no other figure better or worse, and is seen."""
    known = [noul(0.9, True), noul(0.1, False), noul(0.2, True)]
    (row,) = evaluate([*known, error()]).rows
    (without,) = evaluate(known).rows
    assert (row.answers, row.errors) == (3, {"unavailable": 1})
    assert row.figures["answered"].value == 0.75
    assert row.figures["accuracy"] == without.figures["accuracy"]
    assert row.figures["auc"].value == without.figures["auc"].value


def test_a_question_without_any_answer_has_no_figures() -> None:
    report = evaluate([error(), error()])
    assert report.rows[0].figures.keys() == {"answered"}
    assert report.rows[0].figures["answered"].value == 0.0
    assert report.types[0].ece.value is None
    assert report.mean_auc is None
    assert not report.knows_nothing


@pytest.mark.parametrize(("auc", "nothing"), [(1.0, False), (0.5, True), (0.0, False)])
def test_a_suite_of_chance_answers_knows_nothing(auc: float, nothing: bool) -> None:
    report = evaluate(skilled("x", ENOUGH, auc))
    assert report.mean_auc == auc
    assert report.knows_nothing is nothing


def test_nouls_with_few_answers_say_nothing_of_skill() -> None:
    report = evaluate([*skilled("few", ENOUGH - 1, 1.0), *skilled("many", ENOUGH, 0.5)])
    assert report.skilled == ("many",)
    assert report.mean_auc == 0.5
    both = evaluate([*skilled("x", ENOUGH, 1.0), *skilled("y", ENOUGH, 0.5)])
    assert both.mean_auc == 0.75
    assert not both.knows_nothing


def test_rows_by_tag_hold_the_answers_with_that_tag() -> None:
    judged = [
        noul(0.9, True, tags=("short", "language=de")),
        noul(0.8, False, tags=("language=en",)),
        noul(0.1, False, tags=("short", "language=en")),
    ]
    by_tag = evaluate(judged, by="tag").by_tag
    assert [(row.tag, row.answers) for row in by_tag] == [
        ("language=de", 1),
        ("language=en", 2),
        ("short", 2),
    ]
    by_language = evaluate(judged, by="language").by_tag
    assert [row.tag for row in by_language] == ["language=de", "language=en"]
    assert by_language[1].figures["accuracy"].value == 0.5
    assert evaluate(judged).by_tag == ()


def test_grouped_answers_are_resampled_as_groups() -> None:
    alone = [noul(0.9, True) for _ in range(6)]
    grouped = [noul(0.9, True, cluster=i // 2) for i in range(6)]
    assert evaluate(alone).rows[0].groups is None
    (row,) = evaluate(grouped).rows
    assert row.groups == 3
    assert row.figures["accuracy"].method == "bootstrap"


def test_calibration_is_of_all_questions_of_a_type() -> None:
    judged = [noul(0.9, True, id=f"q{i % 3}") for i in range(12)]
    (row,) = evaluate(judged).types
    assert (row.answers, row.claims) == (12, 12)
    assert row.ece.value == pytest.approx(0.1)
    (only,) = row.bins
    assert (only.count, only.observed) == (12, 1.0)


def test_a_figure_is_found_by_its_name() -> None:
    """Ids may hold points."""
    report = evaluate([noul(0.9, True, id="a.b"), noul(0.1, False, id="a.b")])
    auc = report.figure("a.b.auc")
    assert auc is not None
    assert auc.value == 1.0
    assert report.figure("noul.ece") is report.types[0].ece
    assert report.figure("a.auc") is None


def test_the_report_is_json() -> None:
    """What is not known is null and not NaN."""
    report = evaluate([noul(0.9, True, tags=("t",)), spans([], []), error(id="z")], by="tag")
    body = json.loads(json.dumps(report.json(), allow_nan=False))
    assert body["questions"]["z"]["errors"] == {"unavailable": 1}
    assert body["by_tag"][0]["tag"] == "t"
    assert body["types"]["noul"]["bins"] == [{"count": 1, "claimed": 0.9, "observed": 1.0}]
    assert body["types"]["span"]["ece"]["value"] is None
    assert body["intervals"] == {"level": 0.95, "resamples": 1000, "seed": 20_000}


def test_a_perfectly_calibrated_model_is_within_its_interval() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(400)
    judged = [noul(float(x), bool(rng.random() < x)) for x in p]
    (row,) = evaluate(judged, resamples=200).rows
    ece = row.figures["ece"]
    assert ece.value is not None
    assert ece.value < 0.1
