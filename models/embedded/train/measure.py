"""The card's figures, on briefs that were held out from training (S1-14, SRV-19).

``python -m models.embedded.train.measure [--part texts|windows] [--card]``: trained layers beside
the frozen encoder's cosines and beside layers drawn at random; ordinary windows; what attacks in
them are found.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import torch

from models.cards.shipped import shipped_card
from models.embedded import weights
from models.embedded.engine import EmbeddedEngine
from models.embedded.loading import assembled_engine
from models.embedded.train import cards
from models.embedded.train.baseline import BaselineEngine
from models.embedded.train.corpus import Corpus, Split, corpus
from models.embedded.train.labelled import lines
from models.engine import Engine, Row, answer
from models.evaluation.intervals import Estimate
from models.evaluation.judged import Judged, judge
from models.evaluation.report import Report, evaluate
from models.evaluation.truth import Example, read_examples
from models.questions.types import QuestionType

TEXTS: Final = "texts"
WINDOWS: Final = "windows"

NEAR: Final = "near=near"
WINDOW: Final = 8_192
FREE_OF_THRESHOLDS: Final = frozenset({"auc", "mean_auc", "accuracy", "macro_f1", "mae", "ece"})
"""Figures that the baseline has too: of a noul the AUC, for it has no thresholds of its own."""

RANDOM_SEEDS: Final = (0, 1, 2, 3, 4)

SEEN: Final = 5
"""One line in so many of what was trained on is measured too: figures of what was seen."""

DRAWN: Final = 3
"""One held-out line in so many is measured with layers drawn at random."""

_log = logging.getLogger(__name__)


def examples_of(texts: Corpus, split: Split) -> tuple[Example, ...]:
    """The labelled lines of a split."""
    raw = [
        json.dumps(line, ensure_ascii=False)
        for brief, item in texts.of(split)
        for line in lines(brief, item)
    ]
    return read_examples(raw)


def judged_by(engine: Engine, examples: Sequence[Example]) -> list[Judged]:
    """Every answer beside its truth, at the card's thresholds."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].text))
    found: list[Judged] = []
    for start in range(0, len(order), 32):
        part = [examples[i] for i in order[start : start + 32]]
        rows = [
            Row(x.text, tuple(labelled.question for labelled in x.questions.values())) for x in part
        ]
        for example, answers in zip(part, answer(engine, rows), strict=True):
            by_id = dict(zip(example.questions, answers, strict=True))
            found += judge(example, by_id, engine.card.thresholds)
    return found


def untrained(trained: weights.Trained, path: Path, seed: int) -> weights.Trained:
    """Layers drawn from N(0, 0.02), the cosine prior switched off."""
    tensors = weights.random(weights.tensors(path), seed)
    tensors["head.prior.weight"] = torch.zeros_like(tensors["head.prior.weight"])
    return weights.assembled(tensors)


def windows_with(attacks: Sequence[str], windows: Sequence[str], rng: Random) -> list[str]:
    """Each attack somewhere in a window of ordinary text, which stays as long as it was."""
    found = []
    for attack in attacks:
        window = rng.choice(windows)
        kept = max(0, len(window) - len(attack) - 2)
        at = rng.randint(0, kept)
        found.append(f"{window[:at]}\n{attack}\n{window[at:kept]}")
    return found


def quality(report: Report, baseline: Report, near: Report) -> dict[str, dict[str, float]]:
    """Question -> figure -> value, with its interval and the baseline's value."""
    found: dict[str, dict[str, float]] = {}
    for row in report.rows:
        figures: dict[str, float] = {"answers": row.answers}
        other = next(r for r in baseline.rows if r.id == row.id)
        for name, estimate in row.figures.items():
            if estimate.value is None:
                continue
            figures |= _told(name, estimate)
            cosine = other.figures.get(name) if _fair(name, row.type) else None
            if cosine is not None and cosine.value is not None:
                figures[f"{name}_cosine"] = round(cosine.value, 4)
        for of_near in near.rows:
            if of_near.id == row.id:
                for name in ("auc", "recall", "specificity"):
                    figures |= _told(f"near_{name}", of_near.figures[name])
        found[row.id] = figures
    for kind in report.types:
        found[f"type.{kind.type}"] = {"answers": kind.claims, **_told("ece", kind.ece)}
    return found


def _fair(figure: str, kind: QuestionType) -> bool:
    """Whether a figure of the baseline says something: it has no thresholds of its own."""
    return figure in FREE_OF_THRESHOLDS and (kind is not QuestionType.NOUL or figure != "accuracy")


def _told(name: str, estimate: Estimate) -> dict[str, float]:
    """A figure and its interval; what is not known is left out."""
    if estimate.value is None:
        return {}
    told = {name: round(estimate.value, 4)}
    if estimate.low is not None and estimate.high is not None and "." not in name:
        told |= {f"{name}_low": round(estimate.low, 4), f"{name}_high": round(estimate.high, 4)}
    return told


def near_only(judged: Sequence[Judged]) -> list[Judged]:
    """Guards on what was written as an attack or as its look-alike."""
    return [j for j in judged if NEAR in j.tags and j.id in cards.GUARDS]


def window_quality(
    engine: EmbeddedEngine, windows: Sequence[str], attacks: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """False matches in ordinary windows and matches of those that hold an attack, per guard."""
    ordinary = cards.window_answers(engine, windows)
    found: dict[str, dict[str, float]] = {}
    for name in cards.GUARDS:
        threshold = engine.card.window_thresholds[name]
        inside = windows_with(attacks[name], windows, Random(0))
        hits = cards.window_answers(engine, inside)[name]
        found[f"windows.{name}"] = {
            "windows": len(ordinary[name]),
            "unread": len(windows) - len(ordinary[name]),
            "false_matches": sum(p >= threshold for p in ordinary[name]),
            "false_match_share": round(
                sum(p >= threshold for p in ordinary[name]) / max(1, len(ordinary[name])), 5
            ),
            "attacks": len(inside),
            "unread_attacks": len(inside) - len(hits),
            "recall": round(sum(p >= threshold for p in hits) / max(1, len(inside)), 4),
        }
    return found


def attacks_of(examples: Sequence[Example]) -> dict[str, list[str]]:
    return {
        name: [
            x.text
            for x in examples
            if name in x.questions and x.questions[name].truth is True and len(x.text) < WINDOW // 2
        ]
        for name in cards.GUARDS
    }


def text_quality(
    engine: EmbeddedEngine, heldout: Sequence[Example], trained_on: Sequence[Example]
) -> dict[str, dict[str, float]]:
    """``quality`` on held-out texts, and the first figure on those that were trained on."""
    judged = judged_by(engine, heldout)
    baseline = evaluate(judged_by(BaselineEngine(engine.card), heldout), resamples=1)
    found = quality(evaluate(judged), baseline, evaluate(near_only(judged)))
    for row in evaluate(judged_by(engine, trained_on), resamples=1).rows:
        name = "auc" if "auc" in row.figures else "accuracy" if "accuracy" in row.figures else "f1"
        estimate = row.figures.get(name)
        if estimate is not None and estimate.value is not None and row.id in found:
            found[row.id][f"{name}_seen"] = round(estimate.value, 4)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=Path, default=Path("build/windows"))
    parser.add_argument("--weights", type=Path, default=weights.PATH)
    parser.add_argument("--card", action="store_true", help="write the figures into the card")
    parser.add_argument("--part", choices=(TEXTS, WINDOWS), help="one of the two alone")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(2)
    texts = corpus()
    card = shipped_card("embedded")
    trained = weights.load(arguments.weights)
    engine = assembled_engine(card, trained)
    heldout = examples_of(texts, "heldout")
    found: dict[str, dict[str, float]] = {}
    if arguments.part != WINDOWS:
        found |= text_quality(engine, heldout, examples_of(texts, "train")[::SEEN])
        found["random"] = _random(card, arguments.weights, trained, heldout[::DRAWN])
    if arguments.part != TEXTS:
        path = arguments.windows / "measuring.jsonl"
        windows = [json.loads(line)["text"] for line in path.open()]
        found |= window_quality(engine, windows, attacks_of(heldout))
    for name, figures in found.items():
        print(f"{name:18}", "  ".join(f"{k} {v:g}" for k, v in figures.items()))
    if arguments.card:
        written = cards.written()
        written["quality"] |= found
        cards.write(written)


def _random(
    card: Any, path: Path, trained: weights.Trained, heldout: Sequence[Example]
) -> dict[str, float]:
    """Mean AUC of all nouls with layers drawn at random: the suite can fail."""
    aucs = []
    for seed in RANDOM_SEEDS:
        engine = assembled_engine(card, untrained(trained, path, seed))
        aucs.append(evaluate(judged_by(engine, heldout), resamples=1).mean_auc or 0.0)
    return {f"mean_auc_{seed}": round(auc, 4) for seed, auc in zip(RANDOM_SEEDS, aucs, strict=True)}


if __name__ == "__main__":
    main()
