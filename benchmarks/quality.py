"""What the embedded model's zero-shot answers are worth on hand-written texts (S1-14).

``python benchmarks/quality.py [heldout|development] [--card] [--texts]``: figures per preset; with
``--card`` they are written into the shipped card, with ``--texts`` every answer is printed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from models.cards.shipped import shipped_card
from models.embedded.engine import load
from models.engine import Engine, Row, answer
from models.questions.presets import preset_question
from models.questions.types import Answer, ChoiceAnswer, NoulAnswer

FOLDER = Path(__file__).parent / "quality"
CARD = Path(__file__).parents[1] / "models" / "cards" / "embedded.json"
BINS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", default="heldout", choices=["heldout", "development"])
    parser.add_argument("--card", action="store_true")
    parser.add_argument("--texts", action="store_true")
    arguments = parser.parse_args()
    if arguments.card and arguments.data != "heldout":
        parser.error("a card holds figures on held-out texts only")
    engine = load(shipped_card("embedded"), dtype="float32")
    data = YAML(typ="safe").load(FOLDER / f"{arguments.data}.yaml")
    quality = {
        preset: measure(engine, preset, labelled, arguments.texts)
        for preset, labelled in data.items()
    }
    for preset, figures in quality.items():
        print(f"{preset:14}", "  ".join(f"{name} {value:g}" for name, value in figures.items()))
    if arguments.card:
        card = json.loads(CARD.read_text())
        card["quality"] = quality
        CARD.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def measure(
    engine: Engine, preset: str, labelled: Mapping[str, Sequence[str]], show: bool
) -> dict[str, float]:
    """Figure -> value: of a noul AUC, sensitivity and specificity at 0.5 and ECE; of a choice
    accuracy, the share of its commonest label, and ECE."""
    question = preset_question(preset)
    pairs = [(text, label) for label, texts in labelled.items() for text in texts]
    answers = [a for (a,) in answer(engine, [Row(text, (question,)) for text, _ in pairs])]
    if show:
        for (text, label), given in zip(pairs, answers, strict=True):
            print(f"{preset:14} {label:20} {_shown(given):30} {text[:70]!r}")
    nouls = [a.probability for a in answers if isinstance(a, NoulAnswer)]
    if nouls:
        return {
            "texts": len(pairs),
            **_noul(np.array(nouls), [label == "true" for _, label in pairs]),
        }
    choices = [a for a in answers if isinstance(a, ChoiceAnswer)]
    right = [a.choice == label for a, (_, label) in zip(choices, pairs, strict=True)]
    commonest = max(map(len, labelled.values())) / len(pairs)
    return {
        "texts": len(pairs),
        "accuracy": _round(np.mean(right)),
        "commonest_label": _round(commonest),
        "ece": _ece(np.array([max(a.probabilities) for a in choices]), right),
    }


def _noul(p: np.ndarray, truth: Sequence[bool]) -> dict[str, float]:
    true = np.array(truth)
    above = p[true][:, None] - p[~true][None, :]
    return {
        "auc": _round(np.mean((above > 0) + (above == 0) / 2)),
        "sensitivity": _round(np.mean(p[true] >= 0.5)),
        "specificity": _round(np.mean(p[~true] < 0.5)),
        "ece": _ece(p, truth),
    }


def _ece(p: np.ndarray, truth: Sequence[bool]) -> float:
    """Expected calibration error over bins of equal width."""
    true = np.array(truth)
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    gaps = [abs(p[bins == b].sum() - true[bins == b].sum()) for b in set(bins.tolist())]
    return _round(sum(gaps) / len(p))


def _round(value: float) -> float:
    return round(float(value), 3)


def _shown(given: Answer) -> str:
    if isinstance(given, NoulAnswer):
        return f"{given.probability:.3f}"
    if isinstance(given, ChoiceAnswer):
        return f"{given.choice} {max(given.probabilities):.2f}"
    return str(given)


if __name__ == "__main__":
    main()
