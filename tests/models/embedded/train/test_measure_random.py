"""Layers that were never trained know nothing, and the suite says so: SRV-19."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from models.cards.shipped import shipped_card
from models.embedded import weights
from models.embedded.engine import EmbeddedEngine
from models.embedded.loading import assembled_engine
from models.embedded.train.corpus import corpus
from models.embedded.train.labelled import lines
from models.embedded.train.measure import RANDOM_SEEDS, judged_by, untrained
from models.evaluation.report import NO_SKILL, evaluate
from models.evaluation.truth import read_examples
from serve_app.cli import app
from serve_app.commands import evaluate as command

LINES = 400


@pytest.fixture(scope="module")
def labelled() -> list[str]:
    """Every seventh line of the held-out briefs."""
    every = [
        json.dumps(line, ensure_ascii=False)
        for brief, item in corpus().of("heldout")
        for line in lines(brief, item)
    ]
    return every[:: len(every) // LINES][:LINES]


def random_engine(seed: int) -> EmbeddedEngine:
    trained = weights.load()
    return assembled_engine(shipped_card("embedded"), untrained(trained, weights.PATH, seed))


def test_the_mean_auc_of_random_layers_is_that_of_guessing(labelled: list[str]) -> None:
    """SRV-19: over five seeds, the cosine prior switched off"""
    examples = read_examples(labelled)
    aucs = [
        evaluate(judged_by(random_engine(seed), examples), resamples=1).mean_auc
        for seed in RANDOM_SEEDS
    ]
    low, high = NO_SKILL
    assert all(auc is not None for auc in aucs)
    assert low <= sum(auc for auc in aucs if auc is not None) / len(aucs) <= high


@pytest.mark.parametrize(("trained", "exit_code"), [(True, 0), (False, 1)])
def test_eval_fails_where_the_model_knows_nothing(
    labelled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained, exit_code
) -> None:
    """SRV-19: and only there"""
    data = tmp_path / "heldout.jsonl"
    data.write_text("\n".join(labelled))
    if not trained:
        monkeypatch.setattr(command, "load_engine", lambda *_, **__: random_engine(0))
    result = CliRunner().invoke(app, ["eval", str(data)])
    assert result.exit_code == exit_code, result.output
