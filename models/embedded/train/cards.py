"""The card's part of training: digest, temperatures, thresholds (S1-14, SRV-19)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from models.cards.schema import Card
from models.embedded import weights
from models.embedded.engine import EmbeddedEngine
from models.embedded.loading import assembled_engine
from models.embedded.train.calibrate import (
    FALSE_POSITIVES,
    answered,
    by_truth,
    span_temperature,
    temperatures,
    threshold,
)
from models.embedded.train.corpus import Corpus
from models.embedded.train.examples import Example, example_of
from models.engine import Row, answer
from models.questions.presets import preset_question
from models.questions.types import NoulAnswer, QuestionType

CARD: Final = Path(__file__).parents[2] / "cards" / "embedded.json"
GUARDS: Final = ("jailbreak", "harm")
WINDOW_FALSE_POSITIVES: Final = 0.001
"""Share of ordinary windows that may lie above a window's threshold: two thirds of what is allowed
on windows that did not choose it (0.15 %)."""

_log = logging.getLogger(__name__)


def written() -> dict[str, Any]:
    card: dict[str, Any] = json.loads(CARD.read_text("utf-8"))
    return card


def write(card: Mapping[str, Any]) -> None:
    CARD.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", "utf-8")


def calibrated(path: Path, corpus: Corpus, windows: Sequence[str]) -> None:
    """Writes the digest of the weights at ``path`` into the card, and what the calibration texts
    and the ordinary ``windows`` say about them."""
    card = written()
    card["sha256"][weights.FILE] = sha256(path.read_bytes()).hexdigest()
    card["revision"] = card["sha256"][weights.FILE][:12]
    card["calibrated"] = True
    # Figures of other weights go too: ``measure`` writes those of these.
    for name in ("temperatures", "thresholds", "false_positives", "window_thresholds", "quality"):
        card[name] = {}
    trained = weights.load(path)

    def engine_at(found: Mapping[str, float]) -> EmbeddedEngine:
        values = {**card, "temperatures": dict(found)}
        return assembled_engine(Card.model_validate(values), trained)

    items = [(brief, item) for brief, item in corpus.of("calibration")]
    examples = [example_of(brief.brief, item) for brief, item in items]
    found = temperatures(answered(engine_at({}), examples))
    spans = [_only(example, QuestionType.SPAN) for example in examples]
    spans = [example for example in spans if example.asked]
    found["span"] = span_temperature(lambda t: answered(engine_at({"span": t}), spans))
    engine = engine_at(found)
    near = [
        example_of(brief.brief, item)
        for brief, item in items
        if set(item.get("ask", {})) <= set(GUARDS) and not item.get("questions")
    ]
    given = answered(engine, near)
    card["temperatures"] = found
    ordinary = window_answers(engine, windows)
    for name in GUARDS:
        told = by_truth(given, name)
        share = FALSE_POSITIVES[name]
        card["thresholds"][name] = threshold(told[True], told[False], share)
        card["false_positives"][name] = share
        card["window_thresholds"][name] = window_threshold(ordinary[name])
        _log.info("%s: %s", name, {k: card[k][name] for k in ("thresholds", "window_thresholds")})
    write(card)


def _only(example: Example, kind: QuestionType) -> Example:
    asked = tuple(a for a in example.asked if a.question.type is kind)
    return Example(example.brief, example.key, example.state, asked)


def window_threshold(ordinary: Sequence[float]) -> float:
    """What ``WINDOW_FALSE_POSITIVES`` of them lie above, interpolated; ``ValueError`` of none."""
    if len(ordinary) == 0:
        raise ValueError("a threshold is chosen on windows that must not match")
    return round(float(np.quantile(ordinary, 1 - WINDOW_FALSE_POSITIVES)), 6)


def window_answers(engine: EmbeddedEngine, windows: Sequence[str]) -> dict[str, list[float]]:
    """Guard -> P(yes) of each window that it reads at all."""
    questions = tuple(map(preset_question, GUARDS))
    found: dict[str, list[float]] = {name: [] for name in GUARDS}
    for start in range(0, len(windows), 4):
        rows = [Row(text, questions) for text in windows[start : start + 4]]
        for answers in answer(engine, rows):
            for name, of in zip(GUARDS, answers, strict=True):
                if isinstance(of, NoulAnswer):
                    found[name].append(of.probability)
    return found
