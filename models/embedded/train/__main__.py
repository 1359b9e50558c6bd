"""``python -m models.embedded.train``: the decision layers and their card, trained again (SRV-19).

Deterministic to the seed on one machine. Writes ``decision.safetensors`` and the card's digest,
temperatures and thresholds; ``python -m models.embedded.train.measure`` writes its figures.
"""

from __future__ import annotations

import argparse
import json
import logging
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file

from models.cards.shipped import shipped_card
from models.embedded import weights
from models.embedded.encoder import Encoder
from models.embedded.files import encoder_files
from models.embedded.tokenizer import ChunkTokenizer
from models.embedded.train.cards import calibrated
from models.embedded.train.corpus import corpus
from models.embedded.train.fit import Reader, Settings, fit

THREADS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=Path, default=Path("build/windows"), help="see windows")
    parser.add_argument("--share", type=float, default=1.0, help="of the training briefs")
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument("--weights", type=Path, default=weights.PATH)
    parser.add_argument("--card", action="store_true", help="write the shipped card")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    # Nothing reads uninitialised memory here, and filling it takes time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]

    texts = corpus()
    briefs = [brief.brief for brief in texts.briefs if brief.split == "train"]
    kept = set(briefs[: max(1, round(len(briefs) * arguments.share))])
    items = [(b.brief, item) for b, item in texts.of("train") if b.brief in kept]
    ordinary = [json.loads(line)["text"] for line in (arguments.windows / "filler.jsonl").open()]
    card = shipped_card("embedded")
    paths = encoder_files(card.sha256)
    base = load_file(paths["model.safetensors"])
    frozen = Encoder(base, torch.device("cpu"), torch.float32)
    reader = Reader(ChunkTokenizer(paths["tokenizer.json"]), frozen)
    settings = replace(Settings(), epochs=arguments.epochs, seed=arguments.seed)
    logging.info("%d items of %d briefs", len(items), len(kept))
    model = fit(base, items, ordinary, reader, settings)
    weights.save(arguments.weights, model.tensors())
    if arguments.card:
        choosing = [
            json.loads(line)["text"] for line in (arguments.windows / "choosing.jsonl").open()
        ]
        calibrated(arguments.weights, texts, choosing)


if __name__ == "__main__":
    main()
