"""The figures of each type against numbers computed by hand: SRV-19, S1-14."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from models.evaluation.figures import FIGURES, claims, figures
from models.evaluation.judged import Judged
from models.questions.types import QuestionType
from tests.doubles.judged import choice, labels, noul, score, spans


def values(judged: Sequence[Judged]) -> dict[str, float]:
    ones = np.ones(len(judged))
    return {n: float(f(ones)) for n, f in figures(judged[0].question.type, judged).items()}


def test_a_noul() -> None:
    found = values([noul(0.9, True), noul(0.4, True), noul(0.6, False), noul(0.2, False)])
    assert found == {
        "auc": 0.75,
        "accuracy": 0.5,
        "f1": 0.5,
        "recall": 0.5,
        "specificity": 0.5,
        "ece": pytest.approx((0.1 + 0.6 + 0.6 + 0.2) / 4),
    }


def test_a_noul_says_yes_at_its_threshold() -> None:
    """S1-14: the card's threshold is part of what is measured."""
    found = values([noul(0.3, True, threshold=0.3), noul(0.29, False, threshold=0.3)])
    assert (found["recall"], found["specificity"]) == (1.0, 1.0)


def test_truths_of_one_kind_have_no_auc() -> None:
    found = values([noul(0.9, True), noul(0.2, True)])
    assert np.isnan(found["auc"])
    assert np.isnan(found["specificity"])
    assert found["recall"] == 0.5


def test_a_choice() -> None:
    """Of equal probabilities the model names the first; the truth is among two."""
    found = values(
        [
            choice([0.8, 0.1, 0.1], "a"),
            choice([0.4, 0.4, 0.2], "b"),
            choice([0.2, 0.2, 0.6], "b"),
            choice([0.1, 0.9, 0.0], "b"),
        ]
    )
    assert found["accuracy"] == 0.5
    assert found["top1"] == (1 + 0.5 + 0 + 1) / 4
    assert found["commonest_label"] == 0.75
    assert found["macro_f1"] == pytest.approx((2 / 3 + 2 / 4 + 0) / 3)
    assert found["ece"] == pytest.approx((0.2 + 0.4 + 0.6 + 0.1) / 4)


def test_a_score() -> None:
    found = values([score([0.5, 0.25, 0.25], 0), score([0.0, 0.5, 0.5], 2)])
    assert found["accuracy"] == 0.5  # the lower of equal levels
    assert found["mae"] == pytest.approx((0.75 + 0.5) / 2)
    assert found["ece"] == pytest.approx(0.0)  # two claims of 0.5, one came true


def test_a_set() -> None:
    """Label a is told apart; b is true of no state, so that it has no AUC."""
    found = values([labels([0.9, 0.6], {"a"}), labels([0.4, 0.1], ()), labels([0.3, 0.2], {"a"})])
    assert found["f1"] == pytest.approx(2 * 1 / (2 + 2))
    assert found["mean_auc"] == 0.5
    assert claims(QuestionType.SET, [labels([0.9, 0.6], {"a"})]).right.tolist() == [True, False]


def test_a_span() -> None:
    found = values(
        [
            spans(
                [("GPE", 0, 3, 0.9), ("PERSON", 10, 14, 0.6)],
                [("GPE", 0, 3), ("PERSON", 10, 12)],
            ),
            spans([], [("GPE", 5, 8)]),
        ]
    )
    assert found["precision"] == 0.5
    assert found["recall"] == pytest.approx(1 / 3)
    assert found["f1"] == pytest.approx(0.4)
    assert found["f1.GPE"] == pytest.approx(2 / 3)
    assert found["f1.PERSON"] == 0.0
    assert found["char_f1"] == pytest.approx(2 * 5 / (7 + 8))
    assert found["ece"] == pytest.approx((0.1 + 0.6) / 2)


def test_texts_without_spans_have_no_figures_and_no_claims() -> None:
    found = values([spans([], [])])
    assert all(np.isnan(value) for value in found.values())


@pytest.mark.parametrize(
    "judged",
    [
        noul(0.5, True),
        choice([1, 0, 0], "a"),
        score([1, 0, 0], 0),
        labels([1, 0], {"a"}),
        spans([], []),
    ],
)
def test_every_figure_is_known_by_name(judged: Judged) -> None:
    names = {name for name in values([judged]) if not name.startswith("f1.")}
    assert names == set(FIGURES[judged.question.type])
